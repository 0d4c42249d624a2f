from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.osv.advisories import AdvisoriesError
from coordinator.osv.ecosystem import package
from coordinator.osv.importing import import_paths
from tests.coordinator.osv.dumps import database, record, tar_bytes, zip_bytes
from tests.coordinator.osv.pypa import ARCHIVE, needs_archive


def test_one_bad_record_is_told_and_the_others_are_taken(tmp_path: Path) -> None:
    """With its name, what was expected and what was found; files that are no records are only counted."""
    path = tmp_path / "dump.zip"
    files = {"A.json": json.dumps(record("A")).encode(), "B.json": b'{"id": "B", "modified": 5}', "c.yaml": b"on: push"}
    path.write_bytes(zip_bytes(files))
    found = database(tmp_path)

    done = import_paths(found, [path])

    assert (done.taken, done.refused, done.other) == (1, 1, 1)
    assert done.refusals[0].startswith("B.json: expected an OSV record, found")
    assert done.ecosystems == {"npm"}


def test_the_layout_of_the_pypa_database_is_read(tmp_path: Path) -> None:
    """vulns/<package>/<id>.yaml, packed."""
    affected = "- package: {name: X_y, ecosystem: PyPI}\n  versions: ['1.0']\n"
    text = f"id: P\nmodified: 2024-01-01T00:00:00Z\naffected:\n{affected}"
    path = tmp_path / "dump.tar.gz"
    path.write_bytes(tar_bytes({"vulns/x-y/P.yaml": text.encode(), "LICENSE": b"words"}))
    found = database(tmp_path)

    import_paths(found, [path])

    assert [one.advisories[0].versions for one in found.of(package("PyPI", "x-y"))] == [frozenset({"1"})]


def test_a_path_without_records_is_refused(tmp_path: Path) -> None:
    """An import that took nothing must not look like one that did."""
    (tmp_path / "package.json").write_text('{"name": "x"}')

    with pytest.raises(AdvisoriesError, match="expected OSV records, found none"):
        import_paths(database(tmp_path), [tmp_path / "package.json"])


@needs_archive
def test_the_whole_pypa_database_is_taken(tmp_path: Path) -> None:
    """Every real record is understood."""
    found = database(tmp_path)

    done = import_paths(found, [ARCHIVE])

    assert (done.taken, done.refused, done.withdrawn) == (2_661, 0, 10)
    assert [one.records for one in found.freshness()] == [2_651]
