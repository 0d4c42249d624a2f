"""Reading OSV records from files into the database."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from coordinator.catalog.files import shown_path
from coordinator.catalog.rejection import Rejected
from coordinator.osv.advisories import Advisories, AdvisoriesError, Import
from coordinator.osv.advisory import ecosystem_of
from coordinator.osv.archive import SUFFIXES, YAML, documents
from coordinator.osv.record import NoRecord, parse

TOLD_REFUSALS = 20


class Imported(Struct):
    """What came of an import: records *taken*, *older* than known ones, documents that are no record, and refusals.

    *refusals* are the first of the *refused*, each with file, expected and found.
    """

    taken: int = 0
    older: int = 0
    withdrawn: int = 0
    other: int = 0
    refused: int = 0
    refusals: list[str] = []
    ecosystems: set[str] = set()


def import_paths(advisories: Advisories, paths: Sequence[Path]) -> Imported:
    """Take the records in *paths* into *advisories*, all or, if one of *paths* cannot be used, none.

    A single record that cannot be read is counted and told; the others are taken.

    Raises:
        AdvisoriesError: If one of *paths* cannot be read or holds no record, or the database cannot be written.
    """
    done = Imported()
    with advisories.importing() as taking:
        for path in paths:
            import_path(taking, path, done, source=str(path.resolve()))
    return done


def import_path(taking: Import, path: Path, done: Imported, *, source: str) -> None:
    """Take in what *path* holds, under the name *source*, and count it in *done*.

    The data of an ecosystem are as fresh as its last modified record; one from the future is not believed. A record on
    its own dates nothing: it does not make all the others new.

    Raises:
        AdvisoriesError: If *path* cannot be read, or holds no record.
    """
    now = datetime.now(UTC)
    newest: dict[str, datetime] = {}
    digest, records = hashlib.sha256(), 0
    try:
        for name, data in documents(path):
            try:
                record = parse(data, yaml=name.lower().endswith(YAML))
            except NoRecord:
                done.other += 1
                continue
            except Rejected as no:
                done.refused += 1
                if len(done.refusals) < TOLD_REFUSALS:
                    done.refusals.append(f"{name}: expected {no.expected}, found {no.found}")
                continue
            records += 1
            digest.update(hashlib.sha256(data).digest())
            done.taken += (taken := taking.add(record))
            done.older += not taken
            done.withdrawn += record.withdrawn is not None
            for ecosystem in {ecosystem_of(one.package.ecosystem) for one in record.affected or () if one.package}:
                if (at := record.modified_at) <= now:
                    newest[ecosystem] = max(newest.get(ecosystem, at), at)
                done.ecosystems.add(ecosystem)
    except Rejected as no:
        raise AdvisoriesError(f"{shown_path(path)}: expected {no.expected}, found {no.found}") from None
    if not records:
        raise AdvisoriesError(f"{shown_path(path)}: expected OSV records, found none that can be read")
    dated = () if path.suffix.lower() in SUFFIXES else newest.items()
    taking.finish(source, digest.hexdigest(), dated)
