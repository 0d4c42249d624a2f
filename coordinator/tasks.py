"""What a skill is asked for its functional pillar: its example, its author's test cases, the benchmarks' tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from benchmarks.loader import Benchmark, BenchmarkError
from coordinator.catalog.skill import Skill
from workers import registry
from workers.faults import BadExpectation
from workers.wire.job import Expectation

EXAMPLE = "example"
TEST_CASES = "test_cases"
NAME_CHARS = 200


class PlannedTask(Struct, frozen=True, kw_only=True):
    """One task to be run.

    *timeout_ms* is None where the skill's own limit holds. *group* is what is averaged first: a benchmark's id,
    ``test_cases`` or ``example``.
    """

    probe: str
    input: dict[str, Any]
    expectation: Expectation | None
    timeout_ms: int | None
    weight: float
    group: str


def tasks_of(skill: Skill, benchmarks: Sequence[Benchmark]) -> tuple[PlannedTask, ...]:
    """Every functional task of *skill*, each with a probe name of its own.

    Raises:
        BenchmarkError: If a benchmark cannot be run, or two different ones have the same id.
    """
    chosen: dict[str, Benchmark] = {}
    for benchmark in benchmarks:
        other = chosen.setdefault(benchmark.id, benchmark)
        if other.digest != benchmark.digest:
            raise BenchmarkError(
                benchmark.path,
                "/id",
                expected="an id of its own",
                found=f"{benchmark.id!r}, as in {other.path}",
                advice="choose one of the two",
            )
    return (
        example_task(skill),
        *author_tasks(skill),
        *(task for benchmark in chosen.values() for task in benchmark_expectation(benchmark)),
    )


@lru_cache(maxsize=256)
def benchmark_expectation(benchmark: Benchmark) -> tuple[PlannedTask, ...]:
    """The tasks of *benchmark*, each expectation checked against the evaluators that exist.

    Raises:
        BenchmarkError: If a task's evaluator does not exist or cannot work with what is expected, or the scoring
            method cannot be run.
    """
    if benchmark.scoring_method not in ("mean", "weighted_mean"):
        raise BenchmarkError(
            benchmark.path,
            "/scoringMethod",
            expected="mean or weighted_mean",
            found=repr(benchmark.scoring_method),
            advice="repeated runs are not available yet, so pass_at_k cannot be scored; choose another benchmark",
        )
    return tuple(_benchmark_tasks(benchmark))


def author_tasks(skill: Skill) -> tuple[PlannedTask, ...]:
    """The author's own test cases: the answer must be exactly what is expected."""
    taken: set[str] = set()
    tasks = []
    for case in skill.test_cases:
        name = probe = f"test_case/{case.name[:NAME_CHARS]}"
        count = 1
        while probe in taken:
            count += 1
            probe = f"{name}#{count}"
        taken.add(probe)
        expectation = Expectation(evaluator="exact", expected={"type": "exact", "value": case.expected})
        tasks.append(
            PlannedTask(
                probe=probe,
                input=case.input,
                expectation=expectation,
                timeout_ms=skill.timeout_ms,
                weight=1.0,
                group=TEST_CASES,
            )
        )
    return tuple(tasks)


def example_task(skill: Skill) -> PlannedTask:
    """The call that the manifest gives as its example: only the declared outputs are checked."""
    return PlannedTask(
        probe=EXAMPLE,
        input=skill.example,
        expectation=None,
        timeout_ms=skill.timeout_ms,
        weight=1.0,
        group=EXAMPLE,
    )


def _benchmark_tasks(benchmark: Benchmark) -> Iterator[PlannedTask]:
    for index, task in enumerate(benchmark.tasks):
        expectation = Expectation(evaluator=task.evaluator, expected=task.expected_output, options=task.options)
        try:
            registry.check(expectation)
        except BadExpectation as error:
            raise BenchmarkError(
                benchmark.path,
                f"/tasks/{index}{_in_file(error.pointer)}",
                expected=error.expected,
                found=error.found,
                advice="correct the task",
            ) from error
        yield PlannedTask(
            probe=f"{benchmark.id}/{task.id}",
            input=task.input_data,
            expectation=expectation,
            timeout_ms=task.timeout_ms or benchmark.max_latency_ms,
            weight=task.weight if benchmark.scoring_method == "weighted_mean" else 1.0,
            group=benchmark.id,
        )


def _in_file(pointer: str) -> str:
    """Where in a task of a file the place *pointer* of an expectation stands."""
    for ours, theirs in (("/expected", "/expectedOutput"), ("/options", "/evaluator")):
        if pointer == ours or pointer.startswith(f"{ours}/"):
            return theirs + pointer.removeprefix(ours)
    return pointer
