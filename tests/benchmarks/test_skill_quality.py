"""skill-quality tells a manifest that can be used from one that cannot, whatever its format."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loader import built_in, find
from coordinator.catalog import index
from coordinator.catalog.skill import Skill
from coordinator.subject import subject
from coordinator.tasks import tasks_of
from workers.probes import functional
from workers.wire.job import ExamineJob

SXM: dict[str, Any] = {
    "name": "Tide tables",
    "version": "1.0.0",
    "description": "Gives the times of high and low water at a harbour.",
    "inputs": [
        {"name": "harbour", "type": "string", "description": "Its name", "example": "Brest"},
        {"name": "exact", "type": "boolean", "description": "To the minute"},
    ],
    "outputs": [{"name": "times", "type": "array", "description": "Times of day in UTC"}],
}
EVAL_SKILLS: dict[str, Any] = {
    "id": "tides",
    "name": "Tide tables",
    "version": "1.0.0",
    "description": SXM["description"],
    "adapterType": "http",
    "entrypoint": "http://127.0.0.1:1/",
    "inputSchema": {
        "type": "object",
        "properties": {"harbour": {"type": "string", "description": "Its name", "examples": ["Brest"]}},
        "required": ["harbour"],
    },
    "outputSchema": {"type": "string", "description": "One line of times"},
}


def failed(folder: Path, name: str, document: dict[str, Any]) -> set[str]:
    """The tasks that the manifest *document* does not pass."""
    (folder / name).write_text(json.dumps(document))
    (read,) = index.entries(folder)
    assert isinstance(read, Skill)
    lost = set()
    for task in tasks_of(read, [find("skill-quality")]):
        if task.examines and task.expectation is not None:
            about = subject(read, task.input.get("member"))
            job = ExamineJob(id="j", probe=task.probe, subject=about, expectation=task.expectation)
            if asyncio.run(functional.examine(job)).score != 1.0:
                lost.add(task.probe.removeprefix("skill-quality/"))
    return lost


@pytest.mark.parametrize(("name", "document"), [("skillmark.json", SXM), ("skill.json", EVAL_SKILLS)])
def test_a_complete_manifest_passes_all_five(tmp_path: Path, name: str, document: dict[str, Any]) -> None:
    """In either format."""
    assert failed(tmp_path, name, document) == set()


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        ({"version": "one"}, {"identity"}),
        ({"description": "Tides"}, {"description"}),
        ({"description": "TODO: say what this skill does"}, {"description"}),
        ({"description": "港の満潮と干潮の時刻を教えます"}, set()),
        ({"outputs": []}, {"outputs"}),
        ({"outputs": ["times"]}, {"outputs"}),
        ({"inputs": [{"name": "harbour", "type": "string"}]}, {"inputs", "examples"}),
        ({"inputs": [{"name": "harbour", "description": "Its name", "example": "Brest"}]}, {"inputs"}),
        ({"inputs": []}, set()),
    ],
)
def test_each_shortcoming_costs_its_own_task(tmp_path: Path, change: dict[str, Any], lost: set[str]) -> None:
    """One gap, one task; a description needs no blanks, and a skill without inputs no examples."""
    assert failed(tmp_path, "skillmark.json", {**SXM, **change}) == lost


def test_a_test_case_is_an_example(tmp_path: Path) -> None:
    """A call that the author wrote down can be made."""
    bare = {**SXM, "inputs": [{"name": "harbour", "type": "string", "description": "Its name"}]}
    case = {"name": "one", "input": {"harbour": "Brest"}, "expected": {"times": []}}

    assert failed(tmp_path, "skillmark.json", bare) == {"examples"}
    assert failed(tmp_path, "skillmark.json", {**bare, "test_cases": [case]}) == set()


def test_it_ships_complete() -> None:
    """Five tasks, and a page on what they ask."""
    assert len(find("skill-quality").tasks) == 5
    assert (built_in() / "skill-quality" / "README.md").is_file()
