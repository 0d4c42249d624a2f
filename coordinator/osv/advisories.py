"""The local database of advisories: SQLite, one row a record and package, found by ecosystem and name.

A record that comes again replaces the older one; one that was withdrawn stays known, without packages, so that an older
copy of it cannot bring it back. How fresh the data of an ecosystem is, its records tell, never the day they were
imported: an old dump does not become new by being read again.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from coordinator.osv.advisory import Advisory, advisories
from coordinator.osv.affected import Status, status
from coordinator.osv.ecosystem import Package
from coordinator.osv.reach import reach
from coordinator.osv.record import Record
from coordinator.osv.vulnerabilities import Vulnerability, vulnerabilities

SCHEMA = 2
SPELT_OTHERWISE = "select 1 from affected where ecosystem not in ('PyPI', 'npm')"
"""What of a database of version 1 would be found under other names today."""
CACHED = 4_096  # packages, and versions of them
TABLES = """
create table records (id text primary key, modified text not null) without rowid;
create table affected (ecosystem text not null, name text not null, record text not null, body blob not null);
create index affected_package on affected (ecosystem, name);
create index affected_record on affected (record);
create table imports (source text not null, ecosystem text not null, as_of text not null, digest text not null,
                      primary key (source, ecosystem)) without rowid;
"""


class AdvisoriesError(Exception):
    """The database of advisories cannot be used; the message names it, what was expected and found."""


class Freshness(Struct, frozen=True):
    """One ecosystem: how many records it has, and the time up to which they are known, in UTC."""

    ecosystem: str
    records: int
    as_of: datetime


class Advisories:
    """One database. Methods block."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path
        self.of = lru_cache(maxsize=CACHED)(self._of)
        self.found_in = lru_cache(maxsize=CACHED)(self._found_in)
        self.as_of = lru_cache(maxsize=256)(self._as_of)

    @classmethod
    def open(cls, path: Path, *, create: bool = False) -> Advisories:
        """The database at *path*; with *create* it is made where it is missing.

        Raises:
            AdvisoriesError: If there is none, or it is something else.
        """
        if not create and not path.is_file():
            advice = "`skillmark osv update` or `skillmark osv import` makes one"
            raise AdvisoriesError(f"there is no database of advisories at {path}; {advice}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            version = connection.execute("pragma user_version").fetchone()[0]
            if version == 0 and create and not connection.execute("select 1 from sqlite_master").fetchone():
                made = f"begin; {TABLES} pragma user_version={SCHEMA}; commit"
                connection.executescript(f"pragma journal_mode=wal; {made}")
                version = SCHEMA
            elif version == 1 and not connection.execute(SPELT_OTHERWISE).fetchone():
                version = SCHEMA
                with suppress(sqlite3.OperationalError):  # a file that may only be read is as good
                    connection.execute(f"pragma user_version={SCHEMA}")
        except (OSError, sqlite3.Error) as error:
            raise AdvisoriesError(f"{path}: expected a database of advisories, found: {error}") from error
        if version != SCHEMA:
            connection.close()
            raise AdvisoriesError(
                f"{path}: expected a database of advisories of version {SCHEMA}, found {version or 'something else'}; "
                "remove the file and import again"
            )
        return cls(connection, path)

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    @property
    def digest(self) -> str:
        """``sha256:`` over the imports: two databases made of the same files are equal."""
        rows = [list(row) for row in self._read("select ecosystem, digest from imports order by ecosystem, digest")]
        return "sha256:" + hashlib.sha256(msgspec.json.encode(rows)).hexdigest()

    def freshness(self) -> list[Freshness]:
        """The ecosystems that there are."""
        rows = self._read(
            "select ecosystem, max(as_of), "
            "(select count(distinct record) from affected where affected.ecosystem = imports.ecosystem) "
            "from imports group by ecosystem order by ecosystem"
        )
        return [Freshness(ecosystem, records, datetime.fromisoformat(as_of)) for ecosystem, as_of, records in rows]

    def _as_of(self, ecosystem: str) -> datetime | None:
        """Up to when the data of *ecosystem* are known, in UTC; None where there are none.

        Raises:
            AdvisoriesError: If the database cannot be read.
        """
        row = self._read("select max(as_of) from imports where ecosystem = ?", ecosystem)[0]
        return datetime.fromisoformat(row[0]) if row[0] else None

    def _of(self, package: Package) -> tuple[Vulnerability, ...]:
        """The vulnerabilities of *package*, the worst first.

        Raises:
            AdvisoriesError: If the database cannot be read.
        """
        rows = self._read(
            "select body from affected where ecosystem = ? and name = ? order by record, rowid",
            package.ecosystem,
            package.name,
        )
        try:
            return vulnerabilities(DECODER.decode(body) for (body,) in rows)
        except msgspec.DecodeError as error:
            raise AdvisoriesError(f"{self.path}: cannot be read: {error}") from error

    def _found_in(self, package: Package, version: str, allowed: str) -> tuple[tuple[Vulnerability, Status], ...]:
        """Those that are not ruled out in *version* of *package* or, without one, in the range *allowed*.

        Raises:
            AdvisoriesError: If the database cannot be read.
        """

        def told(advisory: Advisory) -> Status:
            if not version:
                return reach(advisory, package.ecosystem, allowed)
            return status(package.ecosystem, version, versions=advisory.versions, ranges=advisory.ranges)

        each = ((one, one.status(told)) for one in self.of(package))
        return tuple((one, known) for one, known in each if known is not Status.UNAFFECTED)

    def _read(self, query: str, *values: str) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise AdvisoriesError(f"{self.path}: cannot be read: {error}") from error

    @contextmanager
    def importing(self) -> Iterator[Import]:
        """One import, which takes effect as a whole or not at all.

        Raises:
            AdvisoriesError: If the database cannot be written.
        """
        try:
            self._connection.execute("begin immediate")
            try:
                yield Import(self._connection)
            except BaseException:
                self._connection.execute("rollback")
                raise
            self._connection.execute("commit")
        except sqlite3.Error as error:
            raise AdvisoriesError(f"{self.path}: cannot be written: {error}") from error
        self.of.cache_clear()
        self.found_in.cache_clear()
        self.as_of.cache_clear()


DECODER = msgspec.json.Decoder(Advisory)


class Import:
    """An import under way."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, record: Record) -> bool:
        """Take in *record*, unless a newer one of its id is known; whether it was taken."""
        modified = record.modified_at.isoformat(timespec="microseconds")
        known = self._connection.execute("select modified from records where id = ?", (record.id,)).fetchone()
        if known is not None and known[0] > modified:
            return False
        if known is not None:
            self._connection.execute("delete from affected where record = ?", (record.id,))
        self._connection.execute("insert or replace into records values (?, ?)", (record.id, modified))
        if record.withdrawn is None:
            rows = [(one.ecosystem, one.name, record.id, msgspec.json.encode(told)) for one, told in advisories(record)]
            self._connection.executemany("insert into affected values (?, ?, ?, ?)", rows)
        return True

    def finish(self, source: str, digest: str, as_of: Iterable[tuple[str, datetime]]) -> None:
        """What was imported from *source*, whose bytes have *digest*: by ecosystem, up to when it is known."""
        self._connection.executemany(
            "insert or replace into imports values (?, ?, ?, ?)",
            [(source, name, at.astimezone(UTC).isoformat(timespec="microseconds"), digest) for name, at in as_of],
        )
