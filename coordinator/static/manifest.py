"""How complete and consistent a manifest is.

Each rule takes points for each place that breaks it, each further place less than the one before. What a format has no
place for costs nothing (`Format.LACKS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from msgspec import UNSET

from coordinator.catalog.example import declared_values
from coordinator.catalog.index import lacks
from coordinator.catalog.rejection import child, shown
from coordinator.catalog.schemas import problem, problems
from coordinator.catalog.skill import FailureMode, Parameter, Skill
from coordinator.static.evidence import Checked, Context, Deduction, diminishing
from workers.wire.job import Pillar

PILLAR = Pillar.FUNCTIONAL
MAX_TOLD = 50  # places of one rule; what comes after would take next to nothing

# rule: points for the first place that breaks it
POINTS: dict[str, float] = {
    "description-missing": 15,
    "description-short": 6,
    "version": 6,
    "author": 4,
    "input-unnamed": 6,
    "input-untyped": 4,
    "input-undescribed": 4,
    "input-without-example": 3,
    "example-invalid": 8,
    "outputs-missing": 12,
    "output-unnamed": 4,
    "output-untyped": 3,
    "output-undescribed": 3,
    "test-cases-missing": 12,
    "test-case-inconsistent": 6,
    "failure-modes-missing": 10,
    "failure-mode-without-behaviour": 3,
    "failure-mode-unspecific": 4,
    "scope": 4,
}
FEW_WORDS = 5
SEMVER = re.compile(
    r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
# What is left of a failure mode without these words is what it says of this skill.
SAYING_NOTHING = frozenset(
    {
        "a", "an", "and", "any", "anything", "appropriate", "are", "as", "at", "back", "be", "by", "can", "case",
        "do", "does", "during", "error", "errors", "exception", "exceptions", "exit", "fail", "failed", "fails",
        "failure", "failures", "general", "generic", "get", "gets", "go", "goes", "graceful", "gracefully",
        "handle", "handled", "handles", "happen", "happens", "has", "have", "if", "in", "internal", "is", "issue",
        "issues", "it", "its", "may", "message", "messages", "might", "n", "none",
        "occur", "occurred", "occurs", "of", "on", "or", "other",
        "problem", "problems", "proper", "properly", "raise", "raised", "raises", "return", "returned", "returns",
        "skill", "some", "something", "that", "the", "then", "there", "thing", "this", "throw", "throws", "tbd",
        "to", "todo", "tool", "unexpected", "unknown", "various", "went", "when", "will", "with", "wrong",
    }
)  # fmt: skip
WORD = re.compile(r"[^\W_]+")

Breach = tuple[str, str, str]  # rule, pointer, reason


def examine(skill: Skill, context: Context) -> Checked:
    """The static evidence of *skill*'s manifest; the same manifest gives the same."""
    told: dict[str, int] = {}
    found = []
    for rule, pointer, reason in _breaches(skill, lacks(skill)):
        told[rule] = told.get(rule, 0) + 1
        if told[rule] <= MAX_TOLD:
            found.append(Deduction(pointer, reason, POINTS[rule], f"manifest/{rule}"))
    return Checked(diminishing(found, context.policy.static))


def _breaches(skill: Skill, without: Collection[str]) -> Iterator[Breach]:
    inputs, outputs = ("inputSchema", "outputSchema") if "inputSchema" in skill.stated else ("inputs", "outputs")
    yield from _head(skill, without)
    yield from _inputs(skill.inputs, f"/{inputs}")
    if "outputs" not in without:
        yield from _outputs(skill, f"/{outputs}")
    if "test_cases" not in without:
        yield from _test_cases(skill)
    if "failure_modes" not in without:
        yield from _failure_modes(skill)
    if "scope" not in without and not skill.scope.strip():
        yield "scope", "/scope", "not stated"


def _head(skill: Skill, lacks: Collection[str]) -> Iterator[Breach]:
    words = len(skill.description.split())
    # Scripts without blanks between words say as much in few "words".
    if not words:
        yield "description-missing", "/description", "no description"
    elif words < FEW_WORDS and len(skill.description.encode()) < 8 * FEW_WORDS:
        yield "description-short", "/description", f"fewer than {FEW_WORDS} words"
    if "version" not in lacks and not SEMVER.fullmatch(skill.version):
        yield "version", "/version", f"{shown(skill.version)} is no semantic version, such as 1.0.0"
    if "author" not in lacks and not skill.author.strip():
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
            yield "input-without-example", at, f"{label} has no example"


def _outputs(skill: Skill, pointer: str) -> Iterator[Breach]:
    if not skill.outputs and not skill.output_schema:
        yield "outputs-missing", pointer, "no output is declared"
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
        yield f"{what}-unnamed", at, f"{what} {label} is told in prose: it has no name"
        return
    if not parameter.schema:
        yield f"{what}-untyped", at, f"{label} has no type"
    if not parameter.description.strip():
        yield f"{what}-undescribed", at, f"{label} has no description"


def _example(at: str, label: str, schema: dict[str, Any], value: Any) -> Iterator[Breach]:
    if (reason := problem(schema, value)) is not None:
        yield "example-invalid", at, f"the example of {label} is not valid: {reason}"


def _test_cases(skill: Skill) -> Iterator[Breach]:
    if not skill.test_cases:
        yield "test-cases-missing", "/test_cases", "no test cases"
        return
    declared = {one.name: (one.required, problems(one.schema)) for one in skill.inputs if one.name}
    outputs = {one.name: problems(one.schema) for one in skill.outputs if one.name}
    for index, case in enumerate(skill.test_cases):
        at = child(child("/test_cases", index), "input")
        for name in sorted(case.input.keys() - declared.keys()):
            yield "test-case-inconsistent", child(at, name), f"{shown(name)} is no declared input"
        for name, (required, problem_of) in declared.items():
            if name not in case.input:
                if required:
                    yield "test-case-inconsistent", at, f"the required input {shown(name)} is missing"
            elif (reason := problem_of(case.input[name])) is not None:
                yield "test-case-inconsistent", child(at, name), f"not as {shown(name)} is declared: {reason}"
        if outputs and (reason := _unexpected(case.expected, outputs)) is not None:
            yield "test-case-inconsistent", child(child("/test_cases", index), "expected"), reason


def _unexpected(expected: Any, outputs: dict[str, Callable[[Any], str | None]]) -> str | None:
    """Why *expected* is neither one of the declared outputs nor an object of them; None if it may be."""
    if any(problem_of(expected) is None for problem_of in outputs.values()):
        return None
    if not isinstance(expected, dict):
        return f"{shown(expected)} is not as any output is declared"
    for name, value in expected.items():
        if name not in outputs:
            return f"{shown(name)} is no declared output"
        if (reason := outputs[name](value)) is not None:
            return f"not as the output {shown(name)} is declared: {reason}"
    return None


def _failure_modes(skill: Skill) -> Iterator[Breach]:
    if not skill.failure_modes:
        yield "failure-modes-missing", "/failure_modes", "no failure modes"
    seen: dict[str, int] = {}
    for index, mode in enumerate(skill.failure_modes):
        at = child("/failure_modes", index)
        words = _words(mode)
        if (first := seen.setdefault(words, index)) != index:
            yield "failure-mode-unspecific", at, f"says what number {first + 1} says"
        elif not words:
            yield "failure-mode-unspecific", at, f"{shown(mode.condition)} could be said of any skill"
        elif not mode.behaviour.strip():
            yield "failure-mode-without-behaviour", at, f"{shown(mode.condition)} says not what the skill does then"


def _words(mode: FailureMode) -> str:
    """What *mode* says of when it happens, folded, without the words that say nothing."""
    return " ".join(word for word in WORD.findall(mode.condition.casefold()) if word not in SAYING_NOTHING)
