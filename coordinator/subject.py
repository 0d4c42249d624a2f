"""What a skill says of itself, as a benchmark can examine it: the public members of its manifest, in one shape.

A benchmark whose ``metadata`` has ``"subject": "manifest"`` is about this instead of the skill's answers; ``inputData``
may name one of its members, else the whole of it is compared. An input's example may also stand in a test case; where
only the whole answer has a schema, it is the one output. (Not taken: asking the skill for its metadata, which a
plain HTTP tool cannot answer.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from benchmarks.loader import Benchmark, BenchmarkError
from coordinator.catalog.example import declared_values
from coordinator.catalog.skill import Parameter, Skill, TestCase

MANIFEST = "manifest"
MEMBERS = (
    "id", "name", "version", "description", "platform", "category", "author", "license", "homepage", "tags", "scope",
    "data_handling", "permissions", "dependencies", "inputs", "outputs", "failure_modes", "test_cases",
)  # fmt: skip


def examines(benchmark: Benchmark) -> bool:
    """Whether *benchmark* is about manifests.

    Raises:
        BenchmarkError: If it is about something that there is not, or a task names no member of a manifest.
    """
    subject = benchmark.metadata.get("subject")
    if subject is None:
        return False
    if subject != MANIFEST:
        raise BenchmarkError(
            benchmark.path,
            "/metadata/subject",
            expected=f"{MANIFEST!r}, or nothing",
            found=repr(subject)[:80],
            advice="correct the file",
        )
    for index, task in enumerate(benchmark.tasks):
        if task.input_data.keys() - {"member"} or task.input_data.get("member", MEMBERS[0]) not in MEMBERS:
            raise BenchmarkError(
                benchmark.path,
                f"/tasks/{index}/inputData",
                expected=f"nothing, or a member: one of {', '.join(MEMBERS)}",
                found=repr(task.input_data)[:200],
                advice="correct the task",
            )
    return True


def subject(skill: Skill, member: str | None = None) -> Any:
    """What the manifest of *skill* says in public, or one *member* of it. Nothing planted, no way in."""
    plain = {name: getattr(skill, name) for name in MEMBERS if isinstance(getattr(skill, name), str)}
    manifest: dict[str, Any] = {
        **plain,
        "tags": list(skill.tags),
        "permissions": list(skill.permissions),
        "dependencies": list(skill.dependencies),
        "inputs": [_parameter(one, skill.test_cases) for one in skill.inputs],
        "outputs": [_parameter(one) for one in skill.outputs or _answer(skill)],
        "failure_modes": [{"condition": one.condition, "behaviour": one.behaviour} for one in skill.failure_modes],
        "test_cases": [{"name": one.name, "input": one.input, "expected": one.expected} for one in skill.test_cases],
    }
    return manifest if member is None else manifest[member]


def _answer(skill: Skill) -> tuple[Parameter, ...]:
    """The answer as the one output, where its schema is declared but no members of it."""
    if not skill.output_schema:
        return ()
    description = skill.output_schema.get("description")
    told = description if isinstance(description, str) else ""
    return (Parameter(name="answer", schema=skill.output_schema, description=told),)


def _parameter(parameter: Parameter, cases: Sequence[TestCase] = ()) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": parameter.name,
        "description": parameter.description,
        "required": parameter.required,
        "schema": parameter.schema,
    }
    values = [parameter.example] if parameter.example is not UNSET else declared_values(parameter.schema)
    values += [case.input[parameter.name] for case in cases if parameter.name in case.input]
    return {**made, "example": values[0]} if values else made
