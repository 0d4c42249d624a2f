"""A manifest as the subject of a benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loader import BenchmarkError
from coordinator.catalog.skill import Parameter, TestCase
from coordinator.subject import MEMBERS, examines, subject
from tests.coordinator.skills import skill, text
from tests.coordinator.test_tasks import benchmark, exact
from workers.wire.skill import Access, Planted

SECRETIVE = skill(
    text(),
    Parameter(name="unit", schema={"enum": ["km", "mi"]}),
    planted=Planted(canary="the-canary", system_prompt="the-prompt"),
    access=Access(adapter="http", endpoint="http://the-endpoint/", options={"auth": {"token": "env:THE_TOKEN"}}),
    author_email="the-author@example.com",
)


def test_nothing_planted_and_no_way_in_is_part_of_it() -> None:
    """The subject travels to workers and into evidence."""
    told = json.dumps(subject(SECRETIVE))

    assert "the-" not in told
    assert "THE_TOKEN" not in told


def test_the_whole_has_every_member_and_a_member_is_the_same_alone() -> None:
    """One shape for all formats."""
    whole = subject(SECRETIVE)

    assert set(MEMBERS) == set(whole)
    assert all(subject(SECRETIVE, member) == whole[member] for member in MEMBERS)


def test_an_example_is_the_manifests_own_word() -> None:
    """Given as an example or as the first of the declared values; never one that we made up."""
    inputs = subject(skill(text(), Parameter(name="unit", schema={"enum": ["km"]}), Parameter(name="free")), "inputs")

    assert [one.get("example") for one in inputs] == ["some words", "km", None]


@pytest.mark.parametrize(
    ("metadata", "asked", "pointer"),
    [
        ({"subject": "weather"}, {}, "/metadata/subject"),
        ({"subject": "manifest"}, {"member": "canary"}, "/tasks/0/inputData"),
        ({"subject": "manifest"}, {"query": "x"}, "/tasks/0/inputData"),
    ],
)
def test_what_no_manifest_has_is_refused(
    tmp_path: Path, metadata: dict[str, Any], asked: dict[str, Any], pointer: str
) -> None:
    """A benchmark's mistake is found when it is loaded."""
    mine = benchmark(tmp_path, exact(1, inputData=asked), metadata=metadata)

    with pytest.raises(BenchmarkError) as caught:
        examines(mine)

    assert caught.value.pointer == pointer


def test_a_benchmark_is_about_answers_unless_it_says_otherwise(tmp_path: Path) -> None:
    """Only the metadata makes it an examination."""
    assert not examines(benchmark(tmp_path, exact(1)))
    assert examines(benchmark(tmp_path, exact(1, inputData={}), metadata={"subject": "manifest"}))


def test_a_test_case_gives_examples_too() -> None:
    """A value that the author wrote down is one, wherever it stands."""
    case = TestCase(name="one", input={"free": 3}, expected=4)

    (told,) = subject(skill(Parameter(name="free"), test_cases=(case,)), "inputs")

    assert told["example"] == 3


def test_a_schema_of_the_whole_answer_is_an_output() -> None:
    """Some formats describe an answer that has no members."""
    (told,) = subject(skill(output_schema={"type": "string", "description": "The answer."}), "outputs")

    assert (told["name"], told["description"], told["schema"]["type"]) == ("answer", "The answer.", "string")
    assert subject(skill(), "outputs") == []
