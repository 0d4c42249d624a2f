"""web-search-basic tells a search skill that finds things from one that does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.loader import Task, built_in, find
from coordinator.tasks import tasks_of
from tests.coordinator.skills import skill, text
from workers.evaluators._prepared import prepared
from workers.wire.job import Expectation

BENCHMARK = find("web-search-basic")
PAGES = [
    ("https://en.example/canberra", "Canberra", "Canberra is the capital city of Australia."),
    ("https://www.python.org/", "Welcome to Python.org", "The official home of the programming language."),
    ("https://plays.example/hamlet", "Hamlet", "To be, or not to be, that is the question: a play by Shakespeare."),
    ("https://bio.example/einstein", "Albert Einstein", "He discovered the theory of relativity; E=mc2 is his."),
    ("https://tower.example/", "東京タワー", "東京タワーの高さは 332.9 メートル"),
    ("https://www.rfc-editor.org/rfc/rfc9110.html", "RFC 9110: HTTP Semantics", "The title of RFC 9110."),
    ("https://books.example/press", "The printing press", "A history of the printing press."),
]


def found(query: str) -> list[tuple[str, str, str]]:
    """Pages that share most with the question: a small honest index, by pieces of three letters."""

    def pieces(words: str) -> set[str]:
        words = words.casefold()
        return {words[at : at + 3] for at in range(len(words) - 2)}

    asked = pieces(query)
    shared = [(len(asked & pieces(" ".join(page))), page) for page in PAGES]
    best = max(count for count, _ in shared)
    return [page for count, page in shared if count >= max(5, best)]


SHAPES: dict[str, Callable[[str], Any]] = {
    "list": lambda query: [{"url": url, "title": title, "snippet": words} for url, title, words in found(query)],
    "object": lambda query: {"results": [{"link": url, "name": title} for url, title, words in found(query)]},
    "deeper": lambda query: {
        "took_ms": 3,
        "data": {"items": [{"href": url, "title": title, "text": words} for url, title, words in found(query)]},
    },
    "text": lambda query: "\n".join(map(" ".join, found(query))) or "No results.",
}


def scores(answer: Callable[[str], Any]) -> dict[str, float]:
    return {task.id: score(task, answer(task.input_data["query"])) for task in BENCHMARK.tasks}


def score(task: Task, reply: Any) -> float:
    expectation = Expectation(evaluator=task.evaluator, expected=task.expected_output, options=task.options)
    return float(prepared(expectation)(reply).value)


@pytest.mark.parametrize("shape", ["list", "deeper", "text"])
def test_a_skill_that_finds_things_passes_in_any_usual_shape(shape: str) -> None:
    """A list, a list inside an object, a text."""
    assert scores(SHAPES[shape]) == dict.fromkeys(scores(SHAPES[shape]), 1.0)


def test_what_is_left_out_of_the_results_is_missed() -> None:
    """Titles alone name neither the play's author nor a tower's height."""
    partial = scores(SHAPES["object"])

    assert partial["quotation"] == 0.5
    assert partial["other-script"] == 0.0
    assert partial["result-form"] == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        lambda query: {"query": query, "message": f"You asked: {query}"},
        lambda query: {"results": []},
        lambda query: {"results": [{"url": "https://ads.example/", "title": "Buy now"}]},
    ],
)
def test_an_echo_an_empty_list_and_an_advertisement_find_nothing(answer: Callable[[str], Any]) -> None:
    """No fact is to be found in its own question."""
    lost = scores(answer)

    assert {id_ for id_, value in lost.items() if value} <= {"result-form", "nothing-to-find"}


def test_an_error_in_place_of_results_is_no_empty_list() -> None:
    """Nothing to be found is told in the form of a result list."""
    (task,) = [one for one in BENCHMARK.tasks if one.id == "nothing-to-find"]

    assert score(task, {"error": "not found"}) == 0.0
    assert score(task, {"results": []}) == 1.0


def test_results_without_addresses_or_words_have_no_form() -> None:
    """An address must be absolute, and something must say what is there."""
    (task,) = [one for one in BENCHMARK.tasks if one.id == "result-form"]

    assert score(task, [{"url": "/press", "title": "The press"}]) == 0.0
    assert score(task, [{"url": "https://books.example/"}]) == 0.0
    assert score(task, []) == 0.0


def test_the_question_goes_under_the_name_that_the_skill_declares() -> None:
    """`q` is as good as `query`; a skill that takes a text of another kind is not asked."""
    tasks = [tasks_of(skill(text(name)), [BENCHMARK])[1] for name in ("query", "q", "text")]

    assert [list(task.input) for task in tasks[:2]] == [["query"], ["q"]]
    assert [bool(task.misfit) for task in tasks] == [False, False, True]


def test_it_ships_complete() -> None:
    """Eight tasks, and a page on what they ask."""
    assert len(BENCHMARK.tasks) == 8
    assert (built_in() / "web-search-basic" / "README.md").is_file()
