"""The vulnerabilities of a package, each once, however many databases tell of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from coordinator.osv.advisory import Advisory
from coordinator.osv.affected import Status, either
from coordinator.osv.severity import ORDER, worst

FAMILIES = ("CVE-", "GHSA-", "PYSEC-")


class Vulnerability(Struct, frozen=True):
    """One vulnerability under all its names, the best known first; *severity* is the worst that any of them tells."""

    ids: tuple[str, ...]
    severity: str
    summary: str
    advisories: tuple[Advisory, ...]

    def status(self, of: Callable[[Advisory], Status]) -> Status:
        """What its advisories say together, *of* saying it for each: affected if one of them does."""
        return either(of(one) for one in self.advisories)


def vulnerabilities(advisories: Iterable[Advisory]) -> tuple[Vulnerability, ...]:
    """What *advisories*, all of one package, tell of, the worst first.

    They are of one vulnerability where one names the other as its alias, or both name a third.
    """
    found = []
    for group in _merged(advisories):
        ids = {name for one in group for name in (one.id, *one.aliases)}
        found.append(
            Vulnerability(
                ids=tuple(sorted(ids, key=_known)),
                severity=worst(one.severity for one in group),
                summary=next((one.summary for one in group if one.summary), ""),
                advisories=tuple(group),
            )
        )
    return tuple(sorted(found, key=lambda one: (-ORDER.index(one.severity), one.ids)))


def _merged(advisories: Iterable[Advisory]) -> list[list[Advisory]]:
    leader: dict[str, str] = {}

    def led(name: str) -> str:
        while (above := leader.setdefault(name, name)) != name:
            leader[name] = leader[above]
            name = above
        return name

    known = list(advisories)
    for one in known:
        for alias in one.aliases:
            leader[led(alias)] = led(one.id)
    groups: dict[str, list[Advisory]] = {}
    for one in sorted(known, key=lambda one: one.id):
        groups.setdefault(led(one.id), []).append(one)
    return list(groups.values())


def _known(name: str) -> tuple[int, str]:
    return next((n for n, family in enumerate(FAMILIES) if name.startswith(family)), len(FAMILIES)), name
