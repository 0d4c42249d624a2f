from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loader import BenchmarkError
from coordinator import policy
from coordinator.catalog.documents import CatalogError
from coordinator.catalog.skill import Rejection, Skill
from coordinator.inputs import chosen_benchmarks, chosen_policy, entries, report_folder
from coordinator.settings import Settings, SettingsError


def manifest(folder: Path, name: str, **changes: Any) -> Path:
    """A folder with one manifest."""
    made = {
        "name": name,
        "version": "1.0.0",
        "description": "d",
        "inputs": [{"name": "text", "type": "string", "required": True, "description": "t"}],
        "outputs": [],
        "test_endpoint": "http://127.0.0.1:1/",
    }
    place = folder / name
    place.mkdir(parents=True)
    (place / "sxm-manifest.json").write_text(json.dumps({**made, **changes}))
    return place


def test_skills_of_several_places_follow_each_other(tmp_path: Path) -> None:
    """Files and folders; a place named twice is read once."""
    one, two = manifest(tmp_path, "one"), manifest(tmp_path, "two")

    found = list(entries([two, one / "sxm-manifest.json", two]))

    assert [entry.id for entry in found if isinstance(entry, Skill)] == ["two", "one"]
    assert len(found) == 2


def test_a_skill_that_an_earlier_place_has_is_rejected_with_where_it_is(tmp_path: Path) -> None:
    """Its id and version would count twice; another version is another skill."""
    first = manifest(tmp_path / "a", "same")
    again = manifest(tmp_path / "b", "same")
    other = manifest(tmp_path / "c", "same", version="2.0.0")

    found = list(entries([first, again, other]))

    assert isinstance(found[1], Rejection)
    assert str(first) in found[1].found
    assert [isinstance(entry, Skill) for entry in found] == [True, False, True]


def test_a_place_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    """Before the first skill is read."""
    with pytest.raises(CatalogError, match="nowhere"):
        entries([manifest(tmp_path, "one"), tmp_path / "nowhere"])


def test_repeats_take_the_place_of_the_policys(tmp_path: Path) -> None:
    """And so change its digest: the verdict's stamp tells."""
    chosen = chosen_policy(Settings(), repeats=5, k=2)

    assert (chosen.functional.repeats, chosen.functional.k) == (5, 2)
    assert chosen.digest != policy.load().digest
    assert chosen_policy(Settings()) == policy.load()


def test_benchmarks_are_chosen_once_and_checked(tmp_path: Path) -> None:
    """By id, and tasks of a file beside them; fewer runs than k are refused before any call."""
    tasks = tmp_path / "tasks.json"
    task = {"id": "t", "description": "d", "inputData": {}, "expectedOutput": {"type": "exact", "value": 1}}
    tasks.write_text(json.dumps([{**task, "evaluator": "exact"}]))

    found = chosen_benchmarks(["coding-easy", "coding-easy"], Settings(), policy.load(), tasks=tasks)

    assert [one.id for one in found] == ["coding-easy", "tasks"]
    tasks.write_text(json.dumps([{**task, "evaluator": "magic"}]))
    with pytest.raises(BenchmarkError, match="/0/evaluator"):
        chosen_benchmarks([], Settings(), policy.load(), tasks=tasks)


def test_a_report_folder_is_made_or_refused(tmp_path: Path) -> None:
    """Before the first call: a run whose report cannot be written would be for nothing."""
    (tmp_path / "file").touch()

    assert report_folder(str(tmp_path / "a" / "b")) == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").is_dir()
    assert report_folder("") is None
    with pytest.raises(SettingsError, match="out: expected a folder"):
        report_folder(str(tmp_path / "file" / "b"))
