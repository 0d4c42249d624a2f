"""What a skill is asked for its functional pillar: its example, its author's test cases, the benchmarks' tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from benchmarks.loader import Benchmark, BenchmarkError
from coordinator.catalog.skill import Skill
from coordinator.fitting import Aliases, Misfit, aliases_of, fitting
from coordinator.repeats import ONCE, Repeats, of_benchmark
from coordinator.subject import examines
from workers import registry
from workers.faults import BadExpectation
from workers.wire.job import Expectation

EXAMPLE = "example"
TEST_CASES = "test_cases"
NAME_CHARS = 200


class PlannedTask(Struct, frozen=True, kw_only=True):
    """One task to be run.

    *timeout_ms* is None where the skill's own limit holds. *group* is what is averaged first: a benchmark's id,
    ``test_cases`` or ``example``. A task that *examines* the manifest, or the member of it that the input names, calls
    nobody. *aliases* are other names of its inputs; *misfit* says why this skill cannot be asked, if so.
    """

    probe: str
    input: dict[str, Any]
    expectation: Expectation | None
    timeout_ms: int | None
    weight: float
    group: str
    repeats: Repeats = ONCE
    examines: bool = False
    aliases: Aliases = {}
    misfit: str = ""


def tasks_of(
    skill: Skill, benchmarks: Sequence[Benchmark], repeats: Repeats = ONCE, *, talks: bool = False
) -> tuple[PlannedTask, ...]:
    """Every functional task of *skill*, each with a probe name of its own. *talks*: its inputs reach it as one text.

    Raises:
        BenchmarkError: As `checked` does.
    """
    fitted = fitting(skill, talks=talks)

    def fit(task: PlannedTask) -> PlannedTask:
        if task.examines:
            return task
        found = fitted(task.input, task.aliases)
        changes = {"misfit": found.reason} if isinstance(found, Misfit) else {"input": found}
        return msgspec.structs.replace(task, **changes)

    return (
        example_task(skill, repeats),
        *author_tasks(skill, repeats),
        *(
            fit(task)
            for benchmark in checked(benchmarks, repeats)
            for task in benchmark_expectation(benchmark, repeats)
        ),
    )


def checked(benchmarks: Sequence[Benchmark], repeats: Repeats = ONCE) -> tuple[Benchmark, ...]:
    """The *benchmarks*, each once and each such that it can be run.

    Raises:
        BenchmarkError: If one cannot be run, or two different ones have the same id.
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
        benchmark_expectation(benchmark, repeats)
    return tuple(chosen.values())


@lru_cache(maxsize=256)
def benchmark_expectation(benchmark: Benchmark, repeats: Repeats = ONCE) -> tuple[PlannedTask, ...]:
    """The tasks of *benchmark*, each expectation checked against the evaluators that exist.

    Raises:
        BenchmarkError: If a task's evaluator does not exist or cannot work with what is expected, if there would be
            fewer runs than the k of pass_at_k, or what it examines is nothing that a skill has.
    """
    runs = of_benchmark(benchmark, repeats)
    return tuple(_benchmark_tasks(benchmark, runs, aliases_of(benchmark), of_manifest=examines(benchmark)))


def author_tasks(skill: Skill, repeats: Repeats = ONCE) -> tuple[PlannedTask, ...]:
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
                repeats=repeats,
            )
        )
    return tuple(tasks)


def example_task(skill: Skill, repeats: Repeats = ONCE) -> PlannedTask:
    """The call that the manifest gives as its example: only the declared outputs are checked."""
    return PlannedTask(
        probe=EXAMPLE,
        input=skill.example,
        expectation=None,
        timeout_ms=skill.timeout_ms,
        weight=1.0,
        group=EXAMPLE,
        repeats=repeats,
    )


def _benchmark_tasks(
    benchmark: Benchmark, repeats: Repeats, aliases: Aliases, *, of_manifest: bool
) -> Iterator[PlannedTask]:
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
            repeats=ONCE if of_manifest else repeats,  # a manifest says the same each time
            examines=of_manifest,
            aliases=aliases,
        )


def _in_file(pointer: str) -> str:
    """Where in a task of a file the place *pointer* of an expectation stands."""
    for ours, theirs in (("/expected", "/expectedOutput"), ("/options", "/evaluator")):
        if pointer == ours or pointer.startswith(f"{ours}/"):
            return theirs + pointer.removeprefix(ours)
    return pointer
