from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict

from packaging.version import InvalidVersion, Version

from coordinator.osv.affected import Status, either, in_range, status
from coordinator.osv.record import Affected, Range
from coordinator.osv.versions import normal
from tests.coordinator.osv.pypa import needs_archive, records

Step = tuple[tuple[Version | None, int], bool]


def steps(events: Range, *, introduced_first: bool = False) -> list[tuple[tuple[Version, int], bool]] | None:
    """The range as a step function: from which place on a version is affected, or not any more."""
    found = []
    for number, event in enumerate(events.events):
        text = event.introduced or event.fixed or event.last_affected
        assert text is not None
        try:
            version = Version("0.dev0" if text == "0" and event.introduced else text)
        except InvalidVersion:
            return None
        after = 1 if event.last_affected else 0
        rank = (0 if event.introduced else 1) if introduced_first else number
        found.append(((version, after), rank, bool(event.introduced)))
    found.sort(key=lambda one: one[:2])
    return [(place, affected) for place, _, affected in found]


def at(line: list[tuple[tuple[Version, int], bool]], version: Version) -> bool:
    """The state of the last step at or before *version*."""
    number = bisect_right([place for place, _ in line], (version, 0))
    return number > 0 and line[number - 1][1]


def parsed(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def in_use() -> list[tuple[str, Affected]]:
    return [(one.id, told) for one in records() if one.withdrawn is None for told in one.affected or ()]


def ecosystem_ranges(told: Affected) -> list[Range]:
    return [one for one in told.ranges or () if one.type != "GIT"]


@needs_archive
def test_each_range_agrees_with_a_step_function() -> None:
    """For every real range, every version that its package ever had and every boundary is judged as by other means."""
    versions: dict[str, set[str]] = defaultdict(set)
    for _, told in in_use():
        assert told.package is not None
        versions[told.package.name].update(told.versions or ())
        for one in ecosystem_ranges(told):
            versions[told.package.name].update(
                filter(None, (event.fixed or event.last_affected or event.introduced for event in one.events))
            )
    compared, wrong = 0, []
    for name, told in in_use():
        assert told.package is not None
        for one in ecosystem_ranges(told):
            line = steps(one)
            for text in versions[told.package.name]:
                version = parsed(text)
                found = in_range(one, "PyPI", text)
                compared += 1
                if line is None or version is None:
                    expected = Status.UNKNOWN
                else:
                    expected = Status.AFFECTED if at(line, version) else Status.UNAFFECTED
                if found is not expected:
                    wrong.append((name, text, found, expected))

    assert compared > 250_000
    assert not wrong


@needs_archive
def test_known_figures_of_the_data_are_reproduced() -> None:
    """By ranges alone 139,358 listed versions match, 14 do not and 108 do not parse, where a tie closes a range.

    In the record's own order, which is ours, five more match; and with ``versions`` no listed version is missed.
    """
    strict, ours, whole = Counter[str](), Counter[str](), Counter[Status]()
    for _, told in in_use():
        ranges = ecosystem_ranges(told)
        listed = frozenset(normal("PyPI", text) for text in told.versions or ())
        for text in told.versions or ():
            version = parsed(text)
            whole[status("PyPI", text, versions=listed, ranges=ranges)] += 1
            if version is None:
                strict["unparsable"] += 1
                ours[either(in_range(one, "PyPI", text) for one in ranges)] += 1
                continue
            if not ranges:
                continue
            lines = [line for one in ranges if (line := steps(one, introduced_first=True)) is not None]
            strict["match" if any(at(line, version) for line in lines) else "miss"] += 1
            ours[either(in_range(one, "PyPI", text) for one in ranges)] += 1

    assert strict == {"match": 139_358, "miss": 14, "unparsable": 108}
    assert ours == {Status.AFFECTED: 139_363, Status.UNAFFECTED: 9, Status.UNKNOWN: 108}
    assert whole == {Status.AFFECTED: 139_481}
