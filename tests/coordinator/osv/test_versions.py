from __future__ import annotations

import pytest

from coordinator.osv.versions import normal, semantic


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.2.3", "1.10.0"),
        ("1.0.0-alpha", "1.0.0-alpha.1"),
        ("1.0.0-alpha.beta", "1.0.0-beta"),
        ("1.0.0-beta.2", "1.0.0-beta.11"),
        ("1.0.0-rc.1", "1.0.0"),
        ("1.0", "v1.0.1"),
        ("1.2.3beta", "1.2.3"),
    ],
)
def test_semantic_versions_are_in_order(older: str, newer: str) -> None:
    """By precedence of SemVer 2.0, section 11, with the spellings that npm lets pass."""
    a, b = semantic(older), semantic(newer)

    assert a is not None
    assert b is not None
    assert a < b
    assert not b < a


@pytest.mark.parametrize(
    "text", ["latest", "1.x", "1.2.3.4", "", "0.2b653", "1." + "2" * 300, "1.0 || 2.0", "git+https://x"]
)
def test_what_is_no_version_is_none(text: str) -> None:
    """Nothing is guessed out of a text that npm would refuse."""
    assert semantic(text) is None


@pytest.mark.parametrize(
    ("ecosystem", "spellings"),
    [
        ("PyPI", ["1.0", "1", "1.0.0", "v1.0"]),
        ("PyPI", ["1.0rc1", "1.0.0-rc.1", "1.0c1"]),
        ("PyPI", ["2.1.0", "2.1.0+cu118", "2.1+cpu"]),
        ("npm", ["1.2.3", "v1.2.3", "=1.2.3", "1.2.3+build"]),
        ("Go", ["1.21.0", "v1.21.0", "go1.21.0", "go1.21"]),
    ],
)
def test_equal_versions_are_spelt_alike(ecosystem: str, spellings: list[str]) -> None:
    """So that a list of versions can be looked into."""
    assert len({normal(ecosystem, text) for text in spellings}) == 1


def test_what_is_no_version_stays_as_it_is() -> None:
    """A legacy version still equals itself."""
    assert normal("PyPI", "0.2-n653") == "0.2-n653"
