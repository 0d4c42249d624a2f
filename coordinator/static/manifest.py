"""How complete and consistent a manifest is.

Each rule takes points for each place that breaks it, up to its own limit: a long list of small gaps weighs no more
than one large one. What a format has no place for costs nothing (`Format.LACKS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET

from coordinator.catalog.example import declared_values
from coordinator.catalog.index import formats
from coordinator.catalog.rejection import child, shown
from coordinator.catalog.schemas import problem, problems
from coordinator.catalog.skill import Parameter, Skill
from coordinator.static.evidence import Deduction, StaticEvidence, evidence

# rule: points for each place, points at most
POINTS: dict[str, tuple[float, float]] = {
    "description missing": (15, 15),
    "description short": (6, 6),
    "version": (6, 6),
    "author": (4, 4),
    "input unnamed": (5, 15),
    "input untyped": (3, 12),
    "input undescribed": (3, 12),
    "input without example": (2, 8),
    "example invalid": (5, 15),
    "outputs missing": (10, 10),
    "output unnamed": (3, 9),
    "output untyped": (2, 8),
    "output undescribed": (2, 8),
    "test cases missing": (10, 10),
    "test case inconsistent": (3, 12),
    "failure modes missing": (10, 10),
    "failure mode without behaviour": (2, 6),
    "permissions unstated": (4, 4),
    "scope unstated": (4, 4),
    "data handling unstated": (4, 4),
}
FEW_WORDS = 5
SEMVER = re.compile(
    r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)

Breach = tuple[str, str, str]  # rule, pointer, reason


def examine(skill: Skill) -> StaticEvidence:
    """The static evidence of *skill*'s manifest; the same manifest gives the same evidence."""
    lacks = formats()[skill.format].LACKS if skill.format in formats() else frozenset()
    return evidence(_deducted(_breaches(skill, lacks)))


def _deducted(breaches: Iterable[Breach]) -> Iterator[Deduction]:
    left = {rule: most for rule, (_, most) in POINTS.items()}
    for rule, pointer, reason in breaches:
        points = min(POINTS[rule][0], left[rule])
        if points > 0:
            left[rule] -= points
            yield Deduction(pointer, reason, points)


def _breaches(skill: Skill, lacks: frozenset[str]) -> Iterator[Breach]:
    inputs, outputs = ("inputSchema", "outputSchema") if "inputSchema" in skill.stated else ("inputs", "outputs")
    yield from _head(skill)
    yield from _inputs(skill.inputs, f"/{inputs}")
    yield from _outputs(skill, f"/{outputs}")
    if "test_cases" not in lacks:
        yield from _test_cases(skill)
    if "failure_modes" not in lacks:
        yield from _failure_modes(skill)
    if "permissions" not in lacks and not skill.permissions and "permissions" not in skill.stated:
        yield "permissions unstated", "/permissions", "not stated; an empty list says that none are needed"
    for field, text in (("scope", skill.scope), ("data_handling", skill.data_handling)):
        if field not in lacks and not text.strip():
            yield f"{field.replace('_', ' ')} unstated", f"/{field}", "not stated"


def _head(skill: Skill) -> Iterator[Breach]:
    words = len(skill.description.split())
    # Scripts without blanks between words say as much in few "words".
    if not words:
        yield "description missing", "/description", "no description"
    elif words < FEW_WORDS and len(skill.description.encode()) < 8 * FEW_WORDS:
        yield "description short", "/description", f"fewer than {FEW_WORDS} words"
    if not SEMVER.fullmatch(skill.version):
        yield "version", "/version", f"{shown(skill.version)} is no semantic version, such as 1.0.0"
    if not skill.author.strip():
        yield "author", "/author", "no author"


def _inputs(inputs: tuple[Parameter, ...], pointer: str) -> Iterator[Breach]:
    for at, label, parameter in _placed(inputs, pointer):
        yield from _named_typed_described("input", at, label, parameter)
        if not parameter.name:
            continue
        if parameter.example is not UNSET:
            yield from _example(child(at, "example"), label, parameter.schema, parameter.example)
        elif examples := declared_values(parameter.schema):
            yield from _example(at, label, parameter.schema, examples[0])
        elif parameter.required and parameter.schema.get("type") != "boolean":
            yield "input without example", at, f"{label} has no example"


def _outputs(skill: Skill, pointer: str) -> Iterator[Breach]:
    if not skill.outputs and not skill.output_schema:
        yield "outputs missing", pointer, "no output is declared"
    for at, label, parameter in _placed(skill.outputs, pointer):
        yield from _named_typed_described("output", at, label, parameter)


def _placed(parameters: tuple[Parameter, ...], pointer: str) -> Iterator[tuple[str, str, Parameter]]:
    for index, parameter in enumerate(parameters):
        if pointer.endswith("Schema"):
            at = child(child(pointer, "properties"), parameter.name)
        else:
            at = child(pointer, index)
        yield at, shown(parameter.name) if parameter.name else f"number {index + 1}", parameter


def _named_typed_described(what: str, at: str, label: str, parameter: Parameter) -> Iterator[Breach]:
    if not parameter.name:
        yield f"{what} unnamed", at, f"{what} {label} is told in prose: it has no name"
        return
    if not parameter.schema:
        yield f"{what} untyped", at, f"{label} has no type"
    if not parameter.description.strip():
        yield f"{what} undescribed", at, f"{label} has no description"


def _example(at: str, label: str, schema: dict[str, Any], value: Any) -> Iterator[Breach]:
    if (reason := problem(schema, value)) is not None:
        yield "example invalid", at, f"the example of {label} is not valid: {reason}"


def _test_cases(skill: Skill) -> Iterator[Breach]:
    if not skill.test_cases:
        yield "test cases missing", "/test_cases", "no test cases"
    declared = {one.name: (one.required, problems(one.schema)) for one in skill.inputs if one.name}
    for index, case in enumerate(skill.test_cases):
        at = child(child("/test_cases", index), "input")
        for name in sorted(case.input.keys() - declared.keys()):
            yield "test case inconsistent", child(at, name), f"{shown(name)} is no declared input"
        for name, (required, problem_of) in declared.items():
            if name not in case.input:
                if required:
                    yield "test case inconsistent", at, f"the required input {shown(name)} is missing"
            elif (reason := problem_of(case.input[name])) is not None:
                yield "test case inconsistent", child(at, name), f"not as {shown(name)} is declared: {reason}"


def _failure_modes(skill: Skill) -> Iterator[Breach]:
    if not skill.failure_modes:
        yield "failure modes missing", "/failure_modes", "no failure modes"
    for index, mode in enumerate(skill.failure_modes):
        if not mode.behaviour.strip():
            at = child("/failure_modes", index)
            yield "failure mode without behaviour", at, f"{shown(mode.condition)} says not what the skill does then"
