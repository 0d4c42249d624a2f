from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loader import BenchmarkError, load, load_tasks

TASK = {
    "id": "add",
    "description": "Adds.",
    "inputData": {"expression": "2+3"},
    "expectedOutput": {"type": "exact", "value": "5"},
    "evaluator": {"type": "exact"},
}


def written(folder: Path, content: Any) -> Path:
    file = folder / "tasks.json"
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize("content", [[TASK], {"tasks": [TASK]}])
def test_tasks_alone_make_a_benchmark(tmp_path: Path, content: Any) -> None:
    """A list of tasks or an object with one; tasks weigh what they say, one where they say nothing."""
    found = load_tasks(written(tmp_path, content))

    assert (found.id, found.scoring_method) == ("tasks", "weighted_mean")
    assert [(task.id, task.weight) for task in found.tasks] == [("add", 1.0)]


def test_a_whole_benchmark_stays_what_it_is(tmp_path: Path) -> None:
    """Its own id and scoring count."""
    whole = {"id": "mine", "name": "Mine", "version": "1.0.0", "domain": "d", "scoringMethod": "mean", "tasks": [TASK]}
    file = written(tmp_path, whole)

    found = load_tasks(file)

    assert (found.id, found.digest) == ("mine", load(file).digest)


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ([{**TASK, "evaluator": 1}], "/0/evaluator"),
        ({"tasks": [TASK, TASK]}, "/tasks/1/id"),
        ([TASK, TASK], "/1/id"),
        ([], ""),
        (5, ""),
        ({"task": [TASK]}, ""),
        ({"tasks": [TASK], "more": 1}, ""),
    ],
)
def test_a_mistake_is_told_where_it_stands(tmp_path: Path, content: Any, pointer: str) -> None:
    """The pointer is into the file as it was written."""
    with pytest.raises(BenchmarkError) as caught:
        load_tasks(written(tmp_path, content))

    assert caught.value.pointer == pointer
