"""Which tasks a skill can be asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.loader import BenchmarkError
from coordinator.catalog.skill import Skill
from coordinator.fitting import Aliases, Misfit, aliases_of, fitting
from tests.coordinator.skills import skill, text, whole
from tests.coordinator.test_tasks import benchmark, exact


def fitted(of: Skill, asked: dict[str, Any], aliases: Aliases | None = None, *, talks: bool = False) -> Any:
    return fitting(of, talks=talks)(asked, aliases or {})


def test_a_task_whose_inputs_are_declared_is_asked_as_it_is() -> None:
    """Names and values are those of the benchmark."""
    assert fitted(skill(text("query")), {"query": "x"}) == {"query": "x"}


@pytest.mark.parametrize(
    "asked", [{"expression": "1"}, {"query": 5}, {"query": "x", "limit": 3}, {}, {"query": "far too long a question"}]
)
def test_what_a_skill_does_not_declare_cannot_be_asked(asked: dict[str, Any]) -> None:
    """An unknown input, a wrong type, one too many, one too few, one out of bounds."""
    assert isinstance(fitted(skill(text("query", maxLength=9)), asked), Misfit)


def test_an_input_goes_under_the_name_that_the_skill_declares() -> None:
    """The own name first, then the aliases in their order."""
    aliases = {"query": ["q", "search"]}

    assert fitted(skill(text("q")), {"query": "x"}, aliases) == {"q": "x"}
    assert fitted(skill(text("query"), text("q")), {"query": "x", "q": "y"}, aliases) == {"query": "x", "q": "y"}
    assert isinstance(fitted(skill(text("body")), {"query": "x"}, aliases), Misfit)


def test_open_inputs_take_anything() -> None:
    """A skill that declares no inputs, or allows others, can be asked everything that is valid."""
    open_ = skill(whole())
    open_ = msgspec.structs.replace(open_, input_schema={**open_.input_schema, "additionalProperties": True})

    assert fitted(skill(), {"query": "x"}) == {"query": "x"}
    assert fitted(open_, {"count": 1, "query": "x"}) == {"count": 1, "query": "x"}


def test_who_is_talked_to_can_be_asked_anything() -> None:
    """Its inputs reach it as text, whatever they are called."""
    assert fitted(skill(text("message")), {"expression": "1 + 1"}, talks=True) == {"expression": "1 + 1"}


@pytest.mark.parametrize("aliases", [[], {"query": "q"}, {"query": [1]}, {"query": ["q"] * 51}])
def test_aliases_that_are_no_names_are_refused(tmp_path: Path, aliases: Any) -> None:
    """The benchmark's mistake, with its place."""
    mine = benchmark(tmp_path, exact(1), metadata={"aliases": aliases})

    with pytest.raises(BenchmarkError) as caught:
        aliases_of(mine)

    assert caught.value.pointer == "/metadata/aliases"
