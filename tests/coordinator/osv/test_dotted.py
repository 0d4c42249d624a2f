from __future__ import annotations

from itertools import combinations

import pytest

from coordinator.osv.versions import order


@pytest.mark.parametrize(
    ("ecosystem", "line"),
    [
        ("RubyGems", "1.0.a.2 1.0.b1 1.0.rc1 1.0 1.0.1 1.9 1.10"),
        ("RubyGems", "2.0.0-beta 2.0.0.rc.1 2.0.0 2.0.0.1"),
        ("NuGet", "1.0.0-alpha 1.0.0-Beta.2 1.0.0-beta.11 1.0.0 1.0.0.1 1.0.1"),
        ("Packagist", "1.0-dev 1.0-alpha1 v1.0.0-beta1 1.0.0-beta2 1.0RC1 1.0 1.0.0-p1 1.0.0.1 1.10"),
        ("Hackage", "1.0 1.0.0 1.0.0.1 1.2"),
        ("CRAN", "1.0-2 1.0.10 1.1-1"),
    ],
)
def test_versions_are_in_the_order_of_their_ecosystem(ecosystem: str, line: str) -> None:
    """As its own tool sorts them."""
    ordered = order(ecosystem, "ECOSYSTEM")
    assert ordered is not None

    for older, newer in combinations(map(ordered, line.split()), 2):
        assert older is not None
        assert newer is not None
        assert older < newer
        assert not newer < older


@pytest.mark.parametrize(
    ("ecosystem", "spellings"),
    [("RubyGems", "1 1.0 1.0.0"), ("NuGet", "1.0 1.0.0.0 1.0.0+a"), ("Packagist", "v1.2 1.2.0 1.2.0.0-stable")],
)
def test_spellings_of_one_version_have_one_place(ecosystem: str, spellings: str) -> None:
    """Zeros at the end, and what is built from it, do not count."""
    ordered = order(ecosystem, "ECOSYSTEM")
    assert ordered is not None

    for one, other in combinations(map(ordered, spellings.split()), 2):
        assert one is not None
        assert other is not None
        assert not one < other
        assert not other < one


@pytest.mark.parametrize(
    ("ecosystem", "text"),
    [("RubyGems", "~> 1.0"), ("NuGet", "1.*"), ("Packagist", "dev-main"), ("Hackage", "1.x"), ("CRAN", "")],
)
def test_what_is_no_version_is_none(ecosystem: str, text: str) -> None:
    """A branch or a range has no place among versions."""
    ordered = order(ecosystem, "ECOSYSTEM")
    assert ordered is not None

    assert ordered(text) is None
