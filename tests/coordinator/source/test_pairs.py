from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from coordinator.catalog import index
from coordinator.catalog.skill import Skill
from coordinator.source.comparison import discrepancies
from coordinator.source.reading import read
from coordinator.static.source_place import source_place

PAIRS = sorted((Path(__file__).parent / "pairs").glob("*.yaml"))
MANIFEST: dict[str, Any] = {
    "name": "Tool",
    "version": "1.0.0",
    "description": "Does one thing with a text.",
    "inputs": [{"name": "text", "type": "string", "description": "a text", "example": "x"}],
    "outputs": [{"name": "answer", "type": "string", "description": "an answer"}],
    "source_path": "src",
}


def written(folder: Path, one: dict[str, Any]) -> Skill:
    manifest = {**MANIFEST, **one["manifest"]}
    manifest["permissions"] = [*manifest["permissions"], *one.get("extra_permissions", [])]
    for name, text in one["files"].items():
        path = folder / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "sxm-manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (skill,) = index.entries(folder)
    assert isinstance(skill, Skill), skill
    return skill


def rules(folder: Path, one: dict[str, Any]) -> set[str]:
    skill = written(folder, one)
    return {found.rule for found in discrepancies(skill, read(source_place(skill, folder)))}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda path: path.stem)
def test_honest_skill_that_looks_guilty_is_not_accused(pair: Path, tmp_path: Path) -> None:
    """Of an honest source nothing is said at all, though it comes close."""
    honest = yaml.safe_load(pair.read_text(encoding="utf-8"))["honest"]

    assert rules(tmp_path, honest) == set()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda path: path.stem)
def test_dishonest_skill_is_found(pair: Path, tmp_path: Path) -> None:
    """The rule after which the file is named is broken by its dishonest skill."""
    dishonest = yaml.safe_load(pair.read_text(encoding="utf-8"))["dishonest"]

    assert f"source/{pair.stem}" in rules(tmp_path, dishonest)
