"""What one OSV record says of one package."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from coordinator.catalog.rejection import printable
from coordinator.osv.ecosystem import Package, package
from coordinator.osv.record import Affected, Range, Record
from coordinator.osv.severity import severity, worst
from coordinator.osv.versions import normal

MALICIOUS = "MAL-"  # the records of packages that are malware; they carry no vector
SUMMARY_CHARS = 200
NO_VULNERABILITY = ("unmaintained", "notice")  # RustSec's word for news that no version is vulnerable by


class Advisory(Struct, frozen=True):
    """Its *versions* are `normal`; names and summary are fit to be shown."""

    id: str
    aliases: tuple[str, ...]
    severity: str
    summary: str
    versions: frozenset[str]
    ranges: tuple[Range, ...]


def advisories(record: Record) -> Iterator[tuple[Package, Advisory]]:
    """What *record* says, by package; what it says of repositories is left out."""
    for one in record.affected or ():
        if one.package is None or _informs(one):
            continue
        ecosystem = ecosystem_of(one.package.ecosystem)
        told = worst(
            severity(ratings or (), specific)
            for ratings, specific in (
                (one.severity, one.database_specific),
                (record.severity, record.database_specific),
            )
        )
        yield (
            package(ecosystem, one.package.name),
            Advisory(
                id=printable(record.id),
                aliases=tuple(printable(name) for name in record.aliases or ()),
                severity="critical" if record.id.startswith(MALICIOUS) else told,
                summary=_summary(record),
                versions=frozenset(normal(ecosystem, version) for version in one.versions or ()),
                ranges=tuple(one.ranges or ()),
            ),
        )


def ecosystem_of(name: str) -> str:
    """The ecosystem without the release or repository that OSV may put behind a colon."""
    return name.partition(":")[0]


def _informs(one: Affected) -> bool:
    told = one.database_specific
    return isinstance(told, dict) and told.get("informational") in NO_VULNERABILITY


def _summary(record: Record) -> str:
    words = (record.summary or "").strip() or (record.details or "").strip()
    line = printable(" ".join(words[: 4 * SUMMARY_CHARS].split()))
    return line if len(line) <= SUMMARY_CHARS else line[: SUMMARY_CHARS - 1] + "…"
