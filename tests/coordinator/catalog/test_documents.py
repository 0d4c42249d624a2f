from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.catalog.canonical import digest
from coordinator.catalog.documents import check, json_value, text
from coordinator.catalog.index import CatalogError, entries
from coordinator.catalog.rejection import Rejected, shown
from coordinator.catalog.skill import Rejection
from coordinator.catalog.yaml_documents import yaml_values


def json_values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=20,
    )


VALUES = json_values(st.text())


def bomb(levels: int) -> str:
    """Each list holds the one before it nine times."""
    rows = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(["a0: &a0 [x, x]", *rows])


def read_yaml(source: str) -> None:
    for value in yaml_values(source):
        check(value)


@pytest.mark.parametrize(
    ("source", "pointer", "found"),
    [
        ('{"a": {"b": 1, "b": 2}}', "/a", '"b" twice'),
        ('{"a": [1, NaN]}', "/a/1", "NaN"),
        ('{"a": -Infinity}', "/a", "one out of range"),
        ('{"a": 1e999}', "/a", "one out of range"),
        ('{"a": ' + "9" * 5000 + "}", "/a", "one out of range"),
        ('{"a/b": "\\ud800"}', "/a~1b", "half of one (a lone surrogate)"),
        ('{"\\udfff": 1}', "", "half of one (a lone surrogate)"),
        ("[" * 100 + "]" * 100, "/0" * 64, "more"),
        ("[" * 100_000, "", "far more"),
        ("[" + "1," * 100_000 + "1]", "", "more"),
        (json.dumps("x" * (1 << 20) + "y"), "", "more"),
        ("{'a': 1}", "", "Expecting property name enclosed in double quotes at line 1, column 2"),
        ("  ", "", "nothing"),
    ],
)
def test_json_with_no_reading_or_two_is_refused_where_it_stands(source: str, pointer: str, found: str) -> None:
    """Whatever JSON cannot say or says twice is refused with its pointer."""
    with pytest.raises(Rejected) as refused:
        check(json_value(source))

    assert (refused.value.pointer, refused.value.found) == (pointer, found)


def test_bytes_must_be_utf8() -> None:
    """Text that is not UTF-8 is refused with the first wrong byte; a byte order mark is no part of the text."""
    assert text(b"\xef\xbb\xbf{}") == "{}"
    with pytest.raises(Rejected, match="0xff at offset 2"):
        text(b"{}\xff")


@settings(deadline=None)
# YAML has no surrogate pairs in escapes and no unprintable characters outside them.
@given(json_values(st.text(st.characters(min_codepoint=32, max_codepoint=126)).filter(lambda text: text != "<<")))
def test_yaml_that_is_json_reads_as_json(value: Any) -> None:
    """The YAML reader and the JSON reader agree on every JSON text."""
    source = json.dumps(value)

    read = list(yaml_values(source))

    assert read == ([] if value is None else [json_value(source)])


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("a: no", {"a": "no"}),
        ("a: 2024-05-17", {"a": "2024-05-17"}),
        ("a: 1:30", {"a": "1:30"}),
        ("a: 012", {"a": "012"}),
        ("a: !!str 12", {"a": "12"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("1: one", {"1": "one"}),
        ("a:\nb: ~", {"a": None, "b": None}),
    ],
)
def test_yaml_means_what_json_could_say(source: str, value: Any) -> None:
    """Dates, odd numbers and no/yes stay text; aliases are the value they stand for."""
    assert list(yaml_values(source)) == [value]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a: 1\na: 2", "each name once in an object"),
        ("a: .nan", "a number that a double can hold"),
        ("a: &x [*x]", "an alias of an anchor before it"),
        ("a: &x {b: 1}\nc:\n  <<: *x", "plain members"),
        ("a: !!python/object/apply:os.system [ls]", "values that JSON has"),
        ("? [a]\n: 1", "a text as the name of a member"),
        ("a: [1", "YAML"),
        ("[" * 5000, "at most 64 levels of nesting"),
        ("\x00", "YAML"),
        (bomb(20), "at most 100,000 values in one manifest"),
    ],
)  # fmt: skip
def test_yaml_beyond_json_is_refused(source: str, expected: str) -> None:
    """Two readings, tags, merge keys, bombs of aliases and bad syntax are refused, each in its own words."""
    with pytest.raises(Rejected) as refused:
        read_yaml(source)

    assert refused.value.expected == expected


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["c.json", "c.jsonl", "c.yaml", "skill.json"]))
def test_arbitrary_bytes_are_rejections(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    """No bytes whatever make the catalog raise anything but its own error for an empty one."""
    path = tmp_path_factory.mktemp("rubbish") / name
    path.write_bytes(data)

    try:
        found = list(entries(path))
    except CatalogError:
        found = []

    assert all(isinstance(entry, Rejection) and str(entry).isprintable() for entry in found)


@settings(deadline=None)
@given(VALUES)
def test_arbitrary_json_is_rejected_in_printable_words(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    """Any JSON at all gives rejections of one printable, short line each."""
    path = tmp_path_factory.mktemp("rubbish") / "c.json"
    path.write_text(json.dumps([value]))

    (entry,) = entries(path)

    assert isinstance(entry, Rejection)
    assert entry.found.isprintable()
    assert len(entry.found) < 1_000


@settings(deadline=None)
@given(st.text() | VALUES)
def test_what_was_found_is_shown_on_one_short_line(value: Any) -> None:
    """Hostile text is truncated and escaped before anybody sees it."""
    line = shown(value)

    assert line.isprintable()
    assert len(line) < 1_000


def test_digest_knows_numbers_beyond_two_to_the_53() -> None:
    """The greatest 64-bit number, which the RFC 8785 library refuses, is read as the double nearest to it."""
    assert digest({"maximum": 2**63 - 1}) == digest({"maximum": float(2**63)})
    assert digest({"maximum": 2**53 - 1}) != digest({"maximum": 2**53 - 2})


@settings(deadline=None)
@given(VALUES)
def test_digest_takes_whatever_the_check_lets_through(value: Any) -> None:
    """What passes the check has a digest, and reading it again gives the same one."""
    try:
        check(value)
    except Rejected:
        return
    if any(abs(number) > 1e308 for number in numbers(value)):
        return

    assert digest(value) == digest(json_value(json.dumps(value)))


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [n for item in value.values() for n in numbers(item)]
    if isinstance(value, list):
        return [n for item in value for n in numbers(item)]
    return [value] if isinstance(value, int | float) and math.isfinite(value) else []


def test_files_of_a_catalog_are_not_executed(tmp_path: Path) -> None:
    """A YAML tag that names a Python function is a rejection, not a call."""
    (tmp_path / "c.yaml").write_text(f"- !!python/object/apply:os.mkdir ['{tmp_path}/made']")

    (entry,) = entries(tmp_path / "c.yaml")

    assert isinstance(entry, Rejection)
    assert not (tmp_path / "made").exists()
