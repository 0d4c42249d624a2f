"""Whether a skill can be asked what a benchmark asks.

A task fits a skill that declares each of its inputs, such that they are valid by the declared schema. One that does not
fit is not sent and is `not_applicable`: it leaves the count, like an attack that no input can carry. (Not taken: a
failure. A catalog holds all kinds of skills, and one that never said it can search has not failed at searching. Who
wants only skills that a benchmark fits reads so in the reasons.)

A benchmark may say in ``metadata.aliases`` under which other names its inputs are usually declared. A skill that is
talked to takes every input, as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from benchmarks.loader import Benchmark, BenchmarkError
from coordinator.catalog.schemas import problems
from coordinator.catalog.skill import Skill

MOST_ALIASES = 50

Aliases = Mapping[str, Sequence[str]]


class Misfit(Struct, frozen=True):
    """Why a task cannot be asked."""

    reason: str


def aliases_of(benchmark: Benchmark) -> Aliases:
    """The other names of each input of *benchmark*, the likeliest first.

    Raises:
        BenchmarkError: If they are no lists of names.
    """
    aliases = benchmark.metadata.get("aliases", {})
    lists = list(aliases.values()) if isinstance(aliases, dict) else [None]
    for names in lists:
        if not isinstance(names, list) or len(names) > MOST_ALIASES or not all(isinstance(one, str) for one in names):
            raise BenchmarkError(
                benchmark.path,
                "/metadata/aliases",
                expected=f"an object with a list of at most {MOST_ALIASES} names for each input",
                found=repr(aliases)[:80],
                advice="correct the file",
            )
    return dict(aliases)


def fitting(skill: Skill, *, talks: bool) -> Callable[[dict[str, Any], Aliases], dict[str, Any] | Misfit]:
    """What *skill* is to be given for a task's inputs, or why it cannot be asked. *talks*: inputs reach it as text."""
    schema = skill.input_schema
    declared = schema.get("properties", {})
    takes_any = not declared or bool(schema.get("additionalProperties")) or "patternProperties" in schema
    problem_of = problems(schema)

    def fitted(asked: dict[str, Any], aliases: Aliases) -> dict[str, Any] | Misfit:
        if talks:
            return asked
        given: dict[str, Any] = {}
        for name, value in asked.items():
            own = next((one for one in (name, *aliases.get(name, ())) if one in declared), name)
            if own not in declared and not takes_any:
                return Misfit(f"the skill declares no input {name!r}")
            given[own] = value
        problem = problem_of(given)
        return given if problem is None else Misfit(f"not what the skill declares as its inputs: {problem}")

    return fitted
