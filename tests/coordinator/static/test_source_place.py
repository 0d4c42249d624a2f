from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.catalog.skill import Skill
from coordinator.static.source_place import NoSource, source_place


def skill(source: str, source_path: str) -> Skill:
    return Skill(
        id="s", name="s", version="1.0.0", digest="sha256:0", format="sxm", source=source, source_path=source_path
    )


@pytest.mark.parametrize(
    ("source", "source_path", "expected"),
    [
        ("a/sxm-manifest.json", "src", "a/src"),
        ("a/sxm-manifest.json", ".", "a"),
        ("a/sxm-manifest.json", "../b", "b"),
        ("list.jsonl:3", "a/src", "a/src"),
        ("a/sxm-manifest.json", "src.tar.gz", "a/src.tar.gz"),
    ],
)
def test_a_source_is_beside_its_manifest(tmp_path: Path, source: str, source_path: str, expected: str) -> None:
    """Relative to the folder of the manifest, within the catalog."""
    for name in ("a/src", "b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a" / "src.tar.gz").write_bytes(b"")

    found = source_place(skill(str(tmp_path / source), source_path), tmp_path)

    assert found == (tmp_path / expected).resolve()


@pytest.mark.parametrize("source_path", ["..", "../../etc", "/etc", "link", "missing", "file", "a\0b", "x" * 5_000])
def test_no_source_outside_the_catalog_is_looked_at(tmp_path: Path, source_path: str) -> None:
    """By no path and no link; what is not there, or is no folder and no archive, is told."""
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    (catalog / "link").symlink_to(tmp_path)
    (catalog / "file").write_text("")

    with pytest.raises(NoSource):
        source_place(skill(str(catalog / "sxm-manifest.json"), source_path), catalog)
