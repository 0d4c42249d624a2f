"""Whether a version is affected: the evaluation of the OSV schema, with a third answer where it cannot be told.

``versions`` first, then ``ranges``. GIT ranges say nothing of a version. A version that its ecosystem cannot read, or
a range whose order nobody knows, is unknown: it never reads as unaffected.

Source: https://ossf.github.io/osv-schema/#evaluation
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache

from coordinator.osv.record import Event, Range
from coordinator.osv.versions import Order, Ordered, normal, order

START = "0"  # as introduced: before every version
NO_LIMIT = "*"


class Status(StrEnum):
    """What is known of a version."""

    AFFECTED = "affected"
    UNAFFECTED = "unaffected"
    UNKNOWN = "unknown"


def either(found: Iterable[Status]) -> Status:
    """Affected if any is; else unknown if any is."""
    best = Status.UNAFFECTED
    for status in found:
        if status is Status.AFFECTED:
            return status
        if status is Status.UNKNOWN:
            best = status
    return best


def status(ecosystem: str, version: str, *, versions: Collection[str], ranges: Sequence[Range]) -> Status:
    """What a record that lists *versions* (each `normal`) and *ranges* says of *version*.

    A record that gives neither says nothing that could be evaluated.
    """
    if normal(ecosystem, version) in versions:
        return Status.AFFECTED
    usable = [one for one in ranges if one.type != "GIT"]
    if not usable and not versions:
        return Status.UNKNOWN
    return either(in_range(one, ecosystem, version) for one in usable)


def in_range(events: Range, ecosystem: str, version: str) -> Status:
    """What one range that is not of type GIT says of *version*."""
    ordered = order(ecosystem, events.type)
    at = ordered(version) if ordered else None
    line = timeline(events.events, ordered) if ordered else None
    if at is None or line is None:
        return Status.UNKNOWN
    limits, changes = line
    if limits is not None and not any(limit is None or at < limit for limit in limits):
        return Status.UNAFFECTED
    inside = False
    for place, _, event in changes:
        if place is not None and at < place:
            break
        if event.introduced is not None:
            inside = True
        elif event.fixed is not None or (place is not None and place < at):
            inside = False
    return Status.AFFECTED if inside else Status.UNAFFECTED


Change = tuple[Ordered | None, int, Event]  # where, whether it closes, what


@lru_cache(maxsize=65_536)
def timeline(events: tuple[Event, ...], ordered: Order) -> tuple[list[Ordered | None] | None, list[Change]] | None:
    """The limits (None: there are none) and the other events, the earliest first; None if one cannot be placed.

    A place of None is before every version, a limit of None beyond all. At one place, a version that is introduced and
    is also the last affected is affected; otherwise events keep the order in which the record has them.
    """
    limits: list[Ordered | None] = []
    start: list[Change] = []
    changes: list[Change] = []
    for event in events:
        texts = [text for text in (event.introduced, event.fixed, event.last_affected, event.limit) if text is not None]
        if len(texts) != 1:
            return None
        text = texts[0]
        if event.limit is not None and NO_LIMIT in text:
            limits.append(None)
        elif event.introduced is not None and text == START:
            start.append((None, 0, event))
        elif (place := ordered(text)) is None:
            return None
        elif event.limit is not None:
            limits.append(place)
        else:
            changes.append((place, int(event.last_affected is not None), event))
    changes.sort(key=_Place)
    return limits or None, [*start, *changes]


class _Place:
    """A change's sort key."""

    __slots__ = ("closes", "place")

    def __init__(self, change: Change) -> None:
        self.place, self.closes, _ = change

    def __lt__(self, other: _Place) -> bool:
        assert self.place is not None  # noqa: S101 - changes at the start are not sorted
        assert other.place is not None  # noqa: S101
        if self.place < other.place:
            return True
        return not other.place < self.place and self.closes < other.closes
