from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.osv.affected import Status, in_range, status
from coordinator.osv.record import Event, Range
from coordinator.osv.versions import ORDERS

A, N, U = Status.AFFECTED, Status.UNAFFECTED, Status.UNKNOWN


def line(*events: tuple[str, str], kind: str = "ECOSYSTEM") -> Range:
    return Range(kind, tuple(Event(**{what: version}) for what, version in events))


@pytest.mark.parametrize(
    ("ecosystem", "events", "expected"),
    [
        ("PyPI", line(("introduced", "0"), ("fixed", "1.0.2")), {"0.dev1": A, "1.0.2rc1": A, "1.0.2": N, "2": N}),
        ("PyPI", line(("introduced", "0")), {"0": A, "999!1": A, "not one": U}),
        ("PyPI", line(("introduced", "1.0"), ("last_affected", "1.5")), {"0.9": N, "1": A, "1.5.0": A, "1.5.post1": N}),
        ("PyPI", line(("last_affected", "1.5"), ("introduced", "1.5")), {"1.4": N, "1.5": A, "1.6": N}),
        ("PyPI", line(("introduced", "1"), ("fixed", "2"), ("introduced", "2"), ("fixed", "3")), {"2": A, "3": N}),
        ("PyPI", line(("introduced", "3"), ("fixed", "4"), ("introduced", "1"), ("fixed", "2")), {"1": A, "2": N}),
        ("PyPI", line(("introduced", "0"), ("limit", "2"), ("limit", "3")), {"1": A, "2.5": A, "3": N}),
        ("PyPI", line(("introduced", "0"), ("limit", "*")), {"99": A}),
        ("PyPI", line(("introduced", "0"), ("fixed", "0.2-n653")), {"1": U}),
        ("PyPI", line(("fixed", "1.0")), {"0.5": N}),
        ("npm", line(("introduced", "1.0.0"), ("fixed", "1.10.0")), {"1.9.0": A, "1.10.0-rc.1": A, "v1.10.0": N}),
        ("npm", line(("introduced", "0"), ("fixed", "2.0"), kind="SEMVER"), {"1.99.9": A, "2.0.0": N, "1.2.3.4": U}),
        ("Go", line(("introduced", "0"), ("fixed", "0.3.0"), kind="SEMVER"), {"0.2.9": A, "v0.3.0": N}),
        ("Go", line(("introduced", "0"), ("fixed", "0.0.0-20220314234659-1baeb1ce4c0b"), kind="SEMVER"),
         {"v0.0.0-20210921155107-089bfa567519": A, "v0.0.0-20220314234659-1baeb1ce4c0b": N, "v0.1.0": N}),
        ("Go", line(("introduced", "1.21.0-0"), ("fixed", "1.21.5"), kind="SEMVER"), {"go1.21.4": A, "go1.20.11": N}),
        ("PyPI", line(("introduced", "0"), ("last_affected", "2.1.0")), {"2.1.0+cu118": A, "2.1.1+cu118": N}),
        ("Maven", line(("introduced", "2.13.0"), ("fixed", "2.15.0")), {"2.14.1": A, "2.15.0-rc1": A, "2.15.0": N}),
        ("crates.io", line(("introduced", "0.0.0-0"), ("fixed", "1.2.3")), {"1.2.2": A, "1.2.3": N}),
        ("RubyGems", line(("introduced", "0"), ("fixed", "5.2.4.3")), {"5.2.4.2": A, "5.2.4.3.rc1": A, "5.2.4.3": N}),
        ("NuGet", line(("introduced", "4.0"), ("fixed", "4.7.2.1")), {"4.7.2": A, "4.7.2.1": N}),
        ("Packagist", line(("introduced", "v8.0.0"), ("fixed", "8.40.0")), {"v8.39.9": A, "8.40": N, "dev-main": U}),
        ("Debian", line(("introduced", "0"), ("fixed", "1.0")), {"0.5": U}),
    ],
)  # fmt: skip
def test_a_range_holds_what_its_events_say(ecosystem: str, events: Range, expected: dict[str, Status]) -> None:
    """Half-open up to a fix, closed up to a last affected version, before one of the limits; else it cannot be told."""
    found = {version: in_range(events, ecosystem, version) for version in expected}

    assert found == expected


def test_an_event_of_two_kinds_decides_nothing() -> None:
    """The schema forbids it, so nobody knows what it means."""
    events = Range("ECOSYSTEM", (Event(introduced="0", fixed="1"),))

    assert in_range(events, "PyPI", "0.5") is U


@pytest.mark.parametrize(
    ("versions", "ranges", "version", "expected"),
    [
        (frozenset({"1"}), (), "1.0.0", A),
        (frozenset({"1"}), (), "1.1", N),
        (frozenset({"0.2-n653"}), (line(("introduced", "0")),), "0.2-n653", A),
        (frozenset({"0.2-n653"}), (line(("introduced", "0"), ("fixed", "1")),), "0.3-n1", U),
        (frozenset(), (line(("introduced", "0"), kind="GIT"),), "1.0", U),
        (frozenset({"1"}), (line(("introduced", "0"), kind="GIT"),), "2.0", N),
        (frozenset(), (), "1.0", U),
        (frozenset(), (line(("introduced", "5")), line(("introduced", "0"), ("fixed", "2"))), "1.0", A),
        (frozenset(), (line(("introduced", "x")), line(("introduced", "0"), ("fixed", "2"))), "3.0", U),
    ],
)
def test_versions_come_before_ranges(
    versions: frozenset[str], ranges: tuple[Range, ...], version: str, expected: Status
) -> None:
    """A listed version is affected whatever the ranges say; GIT ranges say nothing; what cannot be told is unknown."""
    assert status("PyPI", version, versions=versions, ranges=ranges) is expected


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=8, unique=True),
    st.lists(st.sampled_from(["introduced", "fixed", "last_affected"]), min_size=8, max_size=8),
    st.randoms(use_true_random=False),
    st.integers(0, 42),
)
def test_the_order_of_events_does_not_matter(places: list[int], kinds: list[str], random: object, version: int) -> None:
    """Events at different versions may be told in any order, and mean one thing: the last change that was passed."""
    events = [(kind, f"1.{place}") for place, kind in zip(places, kinds, strict=False)]
    shuffled = list(events)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    found = {in_range(line(*order), "PyPI", f"1.{version}") for order in (events, shuffled)}

    passed = [
        (place, kind)
        for place, kind in zip(places, kinds, strict=False)
        if place < version or (place == version and kind != "last_affected")
    ]
    expected = A if passed and max(passed)[1] == "introduced" else N
    assert found == {expected}


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from([*ORDERS, "Debian"]))
def test_no_text_is_too_odd(event: str, version: str, ecosystem: str) -> None:
    """Whatever a record or a skill calls a version, the answer is one of the three."""
    for kind in ("ECOSYSTEM", "SEMVER"):
        assert in_range(line(("introduced", event), ("fixed", version), kind=kind), ecosystem, version) in Status
