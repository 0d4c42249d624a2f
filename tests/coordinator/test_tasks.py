"""What a skill is asked, and which benchmarks are refused before any traffic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.loader import Benchmark, BenchmarkError, find, load
from coordinator.catalog.skill import Skill, TestCase
from coordinator.repeats import ONCE, Repeats
from coordinator.tasks import PlannedTask, benchmark_expectation, checked, tasks_of
from workers.wire.job import Expectation


def benchmark(folder: Path, *tasks: dict[str, Any], **changes: Any) -> Benchmark:
    plain = {"description": "", "inputData": {"a": 1}, "evaluator": "exact"}
    document = {
        "id": "mine",
        "name": "Mine",
        "version": "1.0.0",
        "domain": "x",
        "scoringMethod": "mean",
        "tasks": [{"id": f"t{index}", **plain, **task} for index, task in enumerate(tasks)],
        **changes,
    }
    path = folder / f"{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps(document))
    return load(path)


def exact(value: Any, **more: Any) -> dict[str, Any]:
    return {"expectedOutput": {"type": "exact", "value": value}, **more}


def skill(*cases: TestCase, timeout_ms: int | None = None) -> Skill:
    return Skill(
        id="tool",
        name="Tool",
        version="1.0.0",
        digest="sha256:0",
        format="sxm",
        source="x.json",
        example={"a": 7},
        test_cases=cases,
        timeout_ms=timeout_ms,
    )


def test_the_example_is_always_planned() -> None:
    """Its answer is held against the declared outputs only."""
    assert tasks_of(skill(timeout_ms=900), ()) == (
        PlannedTask(probe="example", input={"a": 7}, expectation=None, timeout_ms=900, weight=1.0, group="example"),
    )


def test_a_test_case_expects_exactly_its_value() -> None:
    """The author's own words are the expectation."""
    _, task = tasks_of(skill(TestCase(name="adds", input={"a": 1}, expected={"result": 2})), ())

    assert task == PlannedTask(
        probe="test_case/adds",
        input={"a": 1},
        expectation=Expectation(evaluator="exact", expected={"type": "exact", "value": {"result": 2}}),
        timeout_ms=None,
        weight=1.0,
        group="test_cases",
    )


def test_every_probe_has_a_name_of_its_own() -> None:
    """Test cases that share a name are numbered, the same way each time."""
    cases = [TestCase(name=name, input={}, expected=1) for name in ("a", "a", "a#2", "a", "x" * 300, "x" * 301)]

    first, second = (tasks_of(skill(*cases), ()) for _ in range(2))

    names = [task.probe for task in first]
    assert names[:5] == ["example", "test_case/a", "test_case/a#2", "test_case/a#2#2", "test_case/a#3"]
    assert len(set(names)) == len(names)
    assert first == second


def test_a_benchmarks_tasks_carry_its_id_and_times(tmp_path: Path) -> None:
    """Probe, group and the time limit: the task's own, else the benchmark's."""
    mine = benchmark(tmp_path, exact(1), exact(2, timeoutMs=50), maxLatencyMs=700)

    tasks = tasks_of(skill(), [mine])[1:]

    assert [(task.probe, task.group, task.timeout_ms) for task in tasks] == [
        ("mine/t0", "mine", 700),
        ("mine/t1", "mine", 50),
    ]


@pytest.mark.parametrize(("method", "weights"), [("mean", [1.0, 1.0]), ("weighted_mean", [1.0, 5.0])])
def test_weights_count_only_in_a_weighted_mean(tmp_path: Path, method: str, weights: list[float]) -> None:
    """A plain mean takes every task alike, whatever is written."""
    mine = benchmark(tmp_path, exact(1), exact(2, weight=5), scoringMethod=method)

    assert [task.weight for task in benchmark_expectation(mine)] == weights


def test_the_same_benchmark_twice_is_run_once_and_a_rival_is_refused(tmp_path: Path) -> None:
    """Two different benchmarks under one id would be one line in the report."""
    mine, again, rival = benchmark(tmp_path, exact(1)), benchmark(tmp_path, exact(1)), benchmark(tmp_path, exact(2))

    assert len(tasks_of(skill(), [mine, again])) == 2
    with pytest.raises(BenchmarkError, match="choose one of the two"):
        tasks_of(skill(), [mine, rival])


@pytest.mark.parametrize(
    ("task", "pointer"),
    [
        (exact(1, evaluator="telepathy"), "/tasks/1/evaluator"),
        (exact(1, evaluator={"type": "telepathy"}), "/tasks/1/evaluator"),
        (exact(1, evaluator={"type": "exact", "coerse": True}), "/tasks/1/evaluator/coerse"),
        ({"expectedOutput": {"type": "exact"}}, "/tasks/1/expectedOutput/value"),
        (exact(1, evaluator="contains"), "/tasks/1/expectedOutput/type"),
        ({"evaluator": "contains", "expectedOutput": {"keywords": []}}, "/tasks/1/expectedOutput/keywords"),
        ({"evaluator": "regex", "expectedOutput": {"patterns": ["a", "("]}}, "/tasks/1/expectedOutput/patterns/1"),
        ({"evaluator": "schema", "expectedOutput": {"schema": {"type": 5}}}, "/tasks/1/expectedOutput/schema/type"),
    ],
)
def test_what_no_worker_could_judge_is_refused(tmp_path: Path, task: dict[str, Any], pointer: str) -> None:
    """File and pointer are named before a single request is sent."""
    mine = benchmark(tmp_path, exact(1), task)

    with pytest.raises(BenchmarkError) as caught:
        tasks_of(skill(), [mine])

    assert (caught.value.file, caught.value.pointer) == (str(mine.path), pointer)


def test_a_benchmark_by_pass_at_k_is_repeated_as_it_says(tmp_path: Path) -> None:
    """Its tasks are run n times; those of others as often as was asked for."""
    by_k = benchmark(tmp_path, exact(1), id="by-k", scoringMethod="pass_at_k", metadata={"k": 2, "n": 5})
    by_mean = benchmark(tmp_path, exact(1))

    runs = {task.probe: task.repeats for task in tasks_of(skill(), [by_k, by_mean])}

    assert runs == {"example": ONCE, "by-k/t0": Repeats(n=5, k=2), "mine/t0": ONCE}


def test_fewer_runs_than_k_are_refused(tmp_path: Path) -> None:
    """Before any traffic, and with what to do."""
    mine = benchmark(tmp_path, exact(1), scoringMethod="pass_at_k", metadata={"k": 5})

    with pytest.raises(BenchmarkError, match="repeat the tasks 5 times or more"):
        checked([mine], Repeats(n=3))


def test_a_manifest_is_examined_once(tmp_path: Path) -> None:
    """It says the same each time, and fits every skill."""
    mine = benchmark(tmp_path, exact("x", inputData={"member": "name"}), metadata={"subject": "manifest"})

    _, task = tasks_of(skill(), [mine], Repeats(n=4))

    assert (task.examines, task.repeats, task.misfit) == (True, ONCE, "")


def test_a_task_that_does_not_fit_says_why(tmp_path: Path) -> None:
    """The benchmark's inputs are none that the skill declares."""
    narrow = msgspec.structs.replace(
        skill(), input_schema={"type": "object", "properties": {"b": {}}, "required": ["b"]}
    )

    _, task = tasks_of(narrow, [benchmark(tmp_path, exact(1))])

    assert task.misfit == "the skill declares no input 'a'"


@pytest.mark.parametrize(("name", "tasks"), [("coding-easy", 20), ("skill-quality", 5), ("web-search-basic", 8)])
def test_the_built_in_benchmarks_can_be_run(name: str, tasks: int) -> None:
    """Every expectation passes the workers' own check."""
    assert len({task.probe for task in benchmark_expectation(find(name))}) == tasks
