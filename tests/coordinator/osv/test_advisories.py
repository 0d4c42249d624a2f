from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coordinator.osv.advisories import Advisories, AdvisoriesError
from coordinator.osv.ecosystem import package
from coordinator.osv.importing import import_paths
from tests.coordinator.osv.dumps import database, record, zipped

LEFT_PAD = package("npm", "left-pad")


def ids(advisories: Advisories, ecosystem: str = "npm", name: str = "left-pad") -> list[str]:
    return [one.id for known in advisories.of(package(ecosystem, name)) for one in known.advisories]


def test_a_package_is_found_however_it_is_spelt(tmp_path: Path) -> None:
    """PyPI names are equal by PEP 503, npm's only if they are the same."""
    found = database(tmp_path, record("P", "Flask_SQLAlchemy", "PyPI"), record("N", "@scope/JSON", "npm"))

    assert ids(found, "PyPI", "flask-sqlalchemy") == ["P"]
    assert ids(found, "npm", "@scope/JSON") == ["N"]
    assert ids(found, "npm", "@scope/json") == []
    assert ids(found, "npm", "flask-sqlalchemy") == []


@pytest.mark.parametrize(
    ("ecosystem", "told", "asked"),
    [
        ("Go", "github.com/Masterminds/goutils", "github.com/masterminds/goutils"),
        ("crates.io", "foo_Bar", "Foo-bar"),
        ("NuGet", "Newtonsoft.Json", "newtonsoft.json"),
        ("Packagist:https://packages.drupal.org/8", "Drupal/core", "drupal/core"),
    ],
)
def test_case_does_not_hide_a_package_where_it_means_nothing(
    tmp_path: Path, ecosystem: str, told: str, asked: str
) -> None:
    """Package URLs are in lower case, advisories are not; what stands behind an ecosystem's colon is no name."""
    found = database(tmp_path, record("R", told, ecosystem))

    assert ids(found, ecosystem.partition(":")[0], asked) == ["R"]


@pytest.mark.parametrize(("kind", "counts"), [("unmaintained", []), ("notice", []), ("unsound", ["R"]), (None, ["R"])])
def test_news_about_a_crate_is_no_vulnerability(tmp_path: Path, kind: str | None, counts: list[str]) -> None:
    """RustSec tells by the same records that a crate has no maintainer any more."""
    one = record("R", "a", "crates.io")
    one["affected"][0]["database_specific"] = {"informational": kind}

    assert ids(database(tmp_path, one), "crates.io", "a") == counts


def test_a_newer_record_replaces_an_older_one_and_not_the_other_way_round(tmp_path: Path) -> None:
    """Of two records of one id the one modified later counts, whichever was imported later."""
    old = record("R", modified="2025-01-01T00:00:00Z")
    new = record("R", "right-pad", modified="2025-01-01T00:00:00.000001+00:00")

    for number, order in enumerate(((old, new), (new, old))):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = database(folder)
        for one in order:
            import_paths(found, [zipped(folder / "one.zip", one)])

        assert ids(found) == []
        assert ids(found, name="right-pad") == ["R"]


def test_a_withdrawn_record_counts_nowhere_and_does_not_come_back(tmp_path: Path) -> None:
    """It is remembered, so that an older copy of it in another dump stays out."""
    found = database(tmp_path, record("R", withdrawn="2026-01-01T00:00:00Z"))

    import_paths(found, [zipped(tmp_path / "older.zip", record("R", modified="2025-01-01T00:00:00Z"))])

    assert ids(found) == []


def test_data_are_as_old_as_their_newest_record(tmp_path: Path) -> None:
    """Not as the day of the import; a record from the future, or one that comes alone, makes no data new."""
    found = database(
        tmp_path,
        record("A", modified="2024-05-06T07:08:09Z"),
        record("B", modified="2023-01-01T00:00:00Z"),
        record("C", modified="2999-01-01T00:00:00Z"),
    )
    alone = tmp_path / "D.json"
    alone.write_text(json.dumps(record("D", modified="2026-02-02T00:00:00Z")))

    import_paths(found, [alone])

    assert "D" in ids(found)
    assert found.as_of("npm") == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert found.as_of("PyPI") is None


def test_malware_is_critical(tmp_path: Path) -> None:
    """The records of malicious packages carry no vector; running them is the worst that a skill can do."""
    found = database(tmp_path, record("MAL-2026-1"), record("GHSA-1"))

    assert {one.ids[0]: one.severity for one in found.of(LEFT_PAD)} == {"GHSA-1": "unknown", "MAL-2026-1": "critical"}


def test_the_digest_tells_databases_apart(tmp_path: Path) -> None:
    """Made of the same records in other files they are equal, made of others they are not."""
    digests = []
    for number, name in enumerate(("A", "A", "B")):
        folder = tmp_path / str(number)
        folder.mkdir()
        digests.append(database(folder, record(name)).digest)

    assert digests[0] == digests[1] != digests[2]


def test_an_import_that_fails_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    """All of the paths or none."""
    found = database(tmp_path, record("A"))
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\x03\x04 and then nothing")

    with pytest.raises(AdvisoriesError, match=r"broken\.zip"):
        import_paths(found, [zipped(tmp_path / "b.zip", record("B")), broken])

    assert ids(found) == ["A"]


@pytest.mark.parametrize("content", [None, b"not a database, but long enough to look like one" * 100, b""])
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """With the path, and what to do where there is none."""
    path = tmp_path / "osv.sqlite"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(AdvisoriesError, match=r"osv\.sqlite"):
        Advisories.open(path)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    """Not even an import writes into it."""
    path = tmp_path / "osv.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("create table mine (x)")
    other.close()

    with pytest.raises(AdvisoriesError, match="something else"):
        Advisories.open(path, create=True)


@pytest.mark.parametrize(("ecosystem", "usable"), [("npm", True), ("PyPI", True), ("Go", False)])
def test_a_database_of_an_older_version_is_used_where_nothing_is_spelt_otherwise(
    tmp_path: Path, ecosystem: str, usable: bool
) -> None:
    """Else its packages would not be found, and read as clean."""
    made = database(tmp_path, record("R", "a", ecosystem))
    made._connection.execute("pragma user_version=1")
    made.close()

    if not usable:
        with pytest.raises(AdvisoriesError, match="expected a database of advisories of version 2, found 1"):
            Advisories.open(made.path)
        return
    again = Advisories.open(made.path)

    assert ids(again, ecosystem, "a") == ["R"]
    again.close()
