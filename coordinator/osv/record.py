"""One OSV record (schema 1.x), as JSON or YAML: what of it decides whether a package is vulnerable.

Source: https://ossf.github.io/osv-schema/
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from coordinator.catalog.rejection import Rejected, shown

MAX_RECORD_BYTES = 16 << 20
MAX_EVENTS = 10_000
MAX_VERSIONS = 200_000
MAX_AFFECTED = 20_000

Text = Annotated[str, Meta(max_length=1_000)]


class Rating(Struct, frozen=True):
    """A severity: *type* says by which system, *score* is a vector of it."""

    type: Text
    score: Text


class Event(Struct, frozen=True, omit_defaults=True):
    """A change on a range's time line; one of the four."""

    introduced: Text | None = None
    fixed: Text | None = None
    last_affected: Text | None = None
    limit: Text | None = None


class Range(Struct, frozen=True):
    """Versions by their order; *type* is SEMVER, ECOSYSTEM or GIT."""

    type: Text
    events: Annotated[tuple[Event, ...], Meta(max_length=MAX_EVENTS)] = ()


class _Name(Struct, frozen=True):
    ecosystem: Text
    name: Text


class Affected(Struct, frozen=True):
    """The versions of one package that are affected: those listed, and those within a range.

    *package* is None where the record is about a repository only.
    """

    package: _Name | None = None
    ranges: Annotated[tuple[Range, ...], Meta(max_length=MAX_EVENTS)] | None = ()
    versions: Annotated[tuple[Text, ...], Meta(max_length=MAX_VERSIONS)] | None = ()
    severity: tuple[Rating, ...] | None = ()
    database_specific: Any = None


class Record(Struct, frozen=True):
    """One vulnerability as one database tells it."""

    id: Annotated[str, Meta(min_length=1, max_length=200)]
    modified: Text
    withdrawn: Text | None = None
    aliases: tuple[Text, ...] | None = ()
    summary: str | None = ""
    details: str | None = ""
    severity: tuple[Rating, ...] | None = ()
    affected: Annotated[tuple[Affected, ...], Meta(max_length=MAX_AFFECTED)] | None = ()
    database_specific: Any = None

    @property
    def modified_at(self) -> datetime:
        """When it was last changed, in UTC."""
        return moment(self.modified)


class NoRecord(Exception):
    """A document that does not mean to be an OSV record: it has neither id nor modified."""


class _Marks(Struct):
    id: Any = None
    modified: Any = None


def parse(data: bytes, *, yaml: bool = False) -> Record:
    """The record in *data*, which is JSON, or YAML whose plain words are all text (a version 1.10 is no number).

    Raises:
        NoRecord: If it is something else.
        Rejected: If it is a record that cannot be read: what was expected, what was found.
    """
    if len(data) > MAX_RECORD_BYTES:
        raise Rejected("", f"an OSV record of at most {MAX_RECORD_BYTES:,} bytes", "more")
    try:
        value = _of_yaml(data) if yaml else data
        marks = msgspec.convert(value, _Marks) if yaml else msgspec.json.decode(data, type=_Marks)
        if marks.id is None or marks.modified is None:
            raise NoRecord
        record = msgspec.convert(value, Record) if yaml else msgspec.json.decode(data, type=Record)
    except UnicodeDecodeError:
        raise Rejected("", "UTF-8", "other bytes") from None
    except msgspec.ValidationError as error:
        if yaml and not isinstance(value, dict):
            raise NoRecord from None
        raise Rejected("", "an OSV record", str(error)) from None
    except msgspec.DecodeError as error:
        raise Rejected("", "JSON", str(error)) from None
    except RecursionError:
        raise Rejected("", "a flat OSV record", "one nested too deep") from None
    moment(record.modified)
    return record


def moment(text: str) -> datetime:
    """*text*, an RFC 3339 time, in UTC.

    Raises:
        Rejected: If it is none.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Rejected("/modified", "an RFC 3339 time, such as 2024-10-10T12:00:00Z", shown(text)) from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _of_yaml(data: bytes) -> Any:
    from coordinator.catalog.yaml_documents import yaml_values  # not at the top: slow to import

    return next(yaml_values(data.decode(), texts=True), None)
