from __future__ import annotations

import json
import os
import signal
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coordinator import examining, policy, record
from coordinator.catalog import index
from coordinator.catalog.documents import CatalogError
from coordinator.catalog.index import Unread
from coordinator.certify import Decision, Mode
from coordinator.examining import ENDED, HERE, Examination, Examiners, Terms, examine_catalog
from coordinator.ledger.ledger import Ledger
from coordinator.record import Header, Record, Stamps
from coordinator.tickets import Ticket, files_digest
from tests.coordinator.osv.dumps import database
from tests.coordinator.osv.dumps import record as osv_record

HEADER = Header(
    run_id="run", mode=Mode.STATIC, stamps=Stamps(engine="0", policy="sha256:p", corpus="sha256:c", benchmarks={})
)


def manifest(name: str, **changes: Any) -> dict[str, Any]:
    return {"name": name, "version": "1.0.0", "description": "Does it.", "inputs": [], "outputs": [], **changes}


def catalog(folder: Path, names: list[str]) -> Path:
    for place, name in enumerate(names):
        (folder / f"{place:05d}").mkdir(parents=True)
        (folder / f"{place:05d}" / "skillmark.json").write_text(json.dumps(manifest(name)))
    return folder


def terms(place: Path, database: Path | None = None) -> Terms:
    return Terms(
        header=HEADER,
        catalog=place,
        policy=policy.load(),
        database=database or place / "no-database",
        now=datetime(2026, 1, 10, tzinfo=UTC),
    )


def examined(place: Path, folder: Path) -> list[Record]:
    ledger = Ledger.open(f"sqlite:///{folder / 'ledger.sqlite'}")
    try:
        ledger.begin("run", mode="static", catalog=str(place), stamps={})
        assert not examine_catalog(Ticket(run_id="run", resumed=False), terms(place), ledger)
        return [record.parse(line) for line in ledger.records("run")]
    finally:
        ledger.close()


@pytest.mark.parametrize("count", [5, HERE + 40])
def test_records_come_in_the_order_of_the_catalog(tmp_path: Path, count: int) -> None:
    """In this process or in several, each entry once, and a second one of the same id is told where the first is."""
    names = [f"skill {number}" for number in range(count)]
    names[-1] = "skill 1"

    records = examined(catalog(tmp_path / "catalog", names), tmp_path)

    assert [one.skill.name for one in records] == [*names[:-1], None]
    assert records[-1].verdict is Decision.REJECTED
    assert '"skill-1" "1.0.0" again; the first is' in records[-1].reasons[0]


def test_a_list_is_shared_out_as_a_folder_is(tmp_path: Path) -> None:
    """One file of many manifests keeps every core busy as well; lines that are no manifest are rejected in place."""
    lines = [json.dumps(manifest(f"skill {number}")) for number in range(HERE + 40)]
    lines[3] = "{"
    (tmp_path / "list.jsonl").write_text("\n".join(lines))

    records = examined(tmp_path / "list.jsonl", tmp_path)

    assert Counter(one.verdict for one in records) == {Decision.NOT_CERTIFIED: HERE + 39, Decision.REJECTED: 1}
    assert records[3].skill.source.endswith("list.jsonl:4")


def test_a_catalog_without_a_manifest_is_refused(tmp_path: Path) -> None:
    """As in live mode."""
    with pytest.raises(CatalogError, match="at least one manifest"):
        examined(tmp_path, tmp_path)


def test_known_vulnerabilities_are_known_in_every_process(tmp_path: Path) -> None:
    """The database that an examining process opened stays open."""
    place = tmp_path / "catalog" / "skillmark.json"
    place.parent.mkdir()
    place.write_text(json.dumps(manifest("a", dependencies=["pkg:npm/left-pad@1.0.0"])))
    database(tmp_path, osv_record("R")).close()
    found = list(index.unread(place.parent))

    with Examiners(terms(place.parent, tmp_path / "osv.sqlite"), 1) as examiners:
        ((_, examinations),) = examiners.examined([found])

    assert examinations is not None
    assert b"left-pad (npm)" in examinations[0].concluded.line
    assert b"has a known vulnerability" in examinations[0].concluded.line


def die_on_marked(terms: Terms) -> None:
    """Make an examining process that ends at a manifest called ``fatal``, and once at each called ``once``."""
    examining.ready(terms)
    real = examining._examined

    def fatal(item: Unread, certification: Any) -> Any:
        text = item.path.read_text()
        died = item.path.with_suffix(".died")
        if "fatal" in text or ("once" in text and not died.exists()):
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return real(item, certification)

    examining._examined = fatal  # type: ignore[assignment]


def test_a_process_that_ends_is_our_fault(tmp_path: Path) -> None:
    """Its work is done again; only the manifest that ends each process is given up, and nothing is said of it."""
    place = catalog(tmp_path / "catalog", ["once", "a", "fatal", "b"])
    found = list(index.unread(place))
    chunks = [found[:1], found[1:]]

    made: list[Examination | None] = []
    with Examiners(terms(place), 1, die_on_marked) as examiners:
        for chunk, examinations in examiners.examined(chunks):
            made += examinations if examinations is not None else [None] * len(chunk)

    assert [one.skill[0] if one and one.skill else None for one in made] == ["once", "a", None, "b"]


def test_what_could_not_be_examined_is_incomplete() -> None:
    """The record names the place and the reason, and has no score."""
    one = record.parse(record.line(record.unexamined("a/skillmark.json", ENDED, HEADER)))

    assert (one.verdict, one.overall, one.reasons) == (Decision.INCOMPLETE, None, (ENDED,))


def test_the_digest_of_the_files_changes_with_any_of_them(tmp_path: Path) -> None:
    """A run that was cut short goes on with the same files only."""
    place = catalog(tmp_path / "catalog", ["a", "b"])

    before, again = files_digest(index.unread(place)), files_digest(index.unread(place))
    (place / "00001" / "skillmark.json").write_text(json.dumps(manifest("b", author="Ada")))

    assert before == again
    assert files_digest(index.unread(place)) != before
