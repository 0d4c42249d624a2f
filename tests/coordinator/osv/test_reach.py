from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nodesemver import satisfies
from packaging.specifiers import SpecifierSet

from coordinator.osv.advisory import Advisory
from coordinator.osv.affected import Status, status
from coordinator.osv.reach import reach
from coordinator.osv.record import Event, Range

A, N, U = Status.AFFECTED, Status.UNAFFECTED, Status.UNKNOWN


def advisory(*events: tuple[str, str], versions: frozenset[str] = frozenset()) -> Advisory:
    ranges = (Range("ECOSYSTEM", tuple(Event(**{kind: version}) for kind, version in events)),) if events else ()
    return Advisory("A", (), "high", "", versions, ranges)


BEFORE_2 = advisory(("introduced", "0"), ("fixed", "2.0.0"))
FROM_1_TO_2 = advisory(("introduced", "1.0.0"), ("last_affected", "2.0.0"))
ALWAYS = advisory(("introduced", "0"))


@pytest.mark.parametrize(
    ("ecosystem", "told", "expected"),
    [
        ("PyPI", BEFORE_2, {"": U, ">=2": N, "<2": A, ">=1.9": U, "~=1.4": A, "==1.*": A, ">2": N, "<=2": U}),
        ("PyPI", FROM_1_TO_2, {"<1": N, ">2": N, ">=2": U, ">=1,<=2": A, "~=3.1": N, "==2.*": U}),
        ("PyPI", ALWAYS, {"": A, ">=5": A, "nonsense": U, "===x": U}),
        ("npm", BEFORE_2, {"": U, "^2.0.0": N, "^1.2.3": A, "~1.2": A, "1.x": A, "*": U, ">=1.9.0": U, "1 || 3": U}),
        ("npm", FROM_1_TO_2, {"^0.4.0": N, "<1.0.0": N, "^1.0.0": A, ">2.0.0": N, "2.x": U}),
        ("npm", ALWAYS, {"latest": A, "^1.0.0": A, "https://example.com/x.tgz": U}),
        ("PyPI", advisory(versions=frozenset({"1.4.2"})), {"": U, ">=1.5": N, "<1.4": N, "~=1.4.0": U}),
        ("Go", BEFORE_2, {"": U, ">=3": U}),
    ],
)  # fmt: skip
def test_a_range_is_known_where_all_or_none_of_it_is_affected(
    ecosystem: str, told: Advisory, expected: dict[str, Status]
) -> None:
    """Between the two nobody knows which version runs; nor where the range cannot be read."""
    assert {allowed: reach(told, ecosystem, allowed) for allowed in expected} == expected


MINOR = st.integers(0, 5)
EVENTS = st.lists(st.tuples(st.sampled_from(["introduced", "fixed", "last_affected"]), MINOR, MINOR), max_size=4)
SPECIFIERS = st.lists(st.tuples(st.sampled_from([">=", ">", "<", "<=", "!=", "==", "~="]), MINOR, MINOR), max_size=3)
UNIVERSE = [f"{major}.{minor}.{patch}" for major in range(7) for minor in range(7) for patch in range(3)]


@given(EVENTS, SPECIFIERS)
def test_no_version_contradicts_what_is_said_of_a_pypi_range(
    events: list[tuple[str, int, int]], specifiers: list[tuple[str, int, int]]
) -> None:
    """Tried against every version of a small universe: 'unaffected' hides none, 'affected' accuses none."""
    told = advisory(*((kind, f"{a}.{b}") for kind, a, b in events))
    allowed = SpecifierSet(",".join(f"{operator}{a}.{b}" for operator, a, b in specifiers))

    found = reach(told, "PyPI", str(allowed))

    each = {
        status("PyPI", version, versions=told.versions, ranges=told.ranges)
        for version in UNIVERSE
        if allowed.contains(version)
    }
    assert found is U or each <= {found}


@given(EVENTS, st.lists(st.tuples(st.sampled_from(["^", "~", ">=", "<", ""]), MINOR, MINOR), min_size=1, max_size=2))
def test_no_version_contradicts_what_is_said_of_an_npm_range(
    events: list[tuple[str, int, int]], parts: list[tuple[str, int, int]]
) -> None:
    """The same for the ranges of npm."""
    told = advisory(*((kind, f"{a}.{b}.0") for kind, a, b in events))
    allowed = " ".join(f"{operator}{a}.{b}.0" for operator, a, b in parts)

    found = reach(told, "npm", allowed)

    fitting = [version for version in UNIVERSE if satisfies(version, allowed, loose=True)]
    assume(fitting)
    each = {status("npm", version, versions=told.versions, ranges=told.ranges) for version in fitting}
    assert found is U or each <= {found}


@given(st.text(max_size=60), st.sampled_from(["PyPI", "npm", "Go"]))
def test_no_range_is_too_odd(allowed: str, ecosystem: str) -> None:
    """Whatever a manifest asks for, the answer is one of the three."""
    assert reach(BEFORE_2, ecosystem, allowed) in Status
