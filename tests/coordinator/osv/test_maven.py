from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.osv.maven import maven

# Each line as `ComparableVersion` of Maven 3.9 orders it.
IN_ORDER = [
    "1-alpha2 1-alpha-10 1-beta 1-milestone1 1-rc1 1-SNAPSHOT 1 1-sp 1-jre 1-1 1.1",
    "9.0.0.M1 9.0.0.M27 9.0.0 9.0.1",
    "1.0.RC2 1.0-RC3 1.0.1",
    "2.14.1 2.15.0-rc1 2.15.0 2.17.0",
    "5.3.18-SNAPSHOT 5.3.18 5.3.19",
    "31.1-android 31.1-jre 32.0.0-jre",
    "1.2.3 1.2.3-4 1.2.3.4 1.2.10",
]
ALIKE = ["1 1.0 1.0.0 1-ga 1.Final 1-0 1.0-RELEASE", "1-a1 1-alpha-1 1alpha1", "1-cr2 1-rc2", "4.1.77.Final 4.1.77"]


@pytest.mark.parametrize("line", IN_ORDER)
def test_versions_are_in_mavens_order(line: str) -> None:
    """Words that mean a state come before the release, others behind it, and numbers behind words."""
    for older, newer in combinations(map(maven, line.split()), 2):
        assert older is not None
        assert newer is not None
        assert older < newer
        assert not newer < older


@pytest.mark.parametrize("line", ALIKE)
def test_spellings_of_one_version_are_alike(line: str) -> None:
    """What says nothing at the end does not count."""
    for one, other in combinations(map(maven, line.split()), 2):
        assert one is not None
        assert other is not None
        assert not one < other
        assert not other < one


@pytest.mark.parametrize("text", ["", "latest", "${project.version}", "[1.0,2.0)"])
def test_what_is_no_version_is_none(text: str) -> None:
    """A variable or a range has no place among versions."""
    assert maven(text) is None


@given(st.lists(st.text("0123.-_abz+", max_size=12), min_size=2, max_size=2))
def test_no_two_versions_are_each_before_the_other(texts: list[str]) -> None:
    """Whatever they are called."""
    one, other = maven(f"1{texts[0]}"), maven(f"1{texts[1]}")

    assert one is not None
    assert other is not None
    assert not (one < other and other < one)
