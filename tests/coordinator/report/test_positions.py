from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coordinator.report.positions import line_of, lines

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('abc/~"\\{[,: é', max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


def test_members_are_found_at_the_lines_where_they_begin() -> None:
    """Objects by the lines of their names, items of lists by their own."""
    text = '{\n "a": 1,\n "b": {\n  "c/d": [\n   {"e": "}],{"},\n   2\n  ]\n }\n}'

    found = lines(text)

    assert found == {"": 1, "/a": 2, "/b": 3, "/b/c~1d": 4, "/b/c~1d/0": 5, "/b/c~1d/0/e": 5, "/b/c~1d/1": 6}


def test_what_is_not_there_is_at_the_innermost_member_around_it() -> None:
    """A missing field is shown where it should stand."""
    known = lines('{\n "a": [\n  {"b": 1}\n ]\n}')

    assert [line_of(pointer, known) for pointer in ("/a/0/c", "/x", "", "/a/7/b")] == [3, 1, 1, 2]


@given(VALUES)
def test_every_member_of_any_json_is_found(value: Any) -> None:
    """Each at a line of the text, in the order of the text."""
    text = json.dumps(value, indent=1)

    found = lines(text)

    assert len(found) >= min(1, _members(value))
    assert all(1 <= line <= text.count("\n") + 1 for line in found.values())
    assert list(found.values()) == sorted(found.values())


@given(st.text('{}[],:"\\ \na1', max_size=200))
def test_rubbish_ends_the_search_and_nothing_else(text: str) -> None:
    """A file may have changed since it was certified."""
    assert lines(text)[""] == 1


def _members(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_members, inner))
