"""YAML that is read as JSON would be."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from payloads import bounded_yaml
from payloads.bounded_yaml import YamlError


def is_plain(value: Any) -> bool:
    """Whether *value* has JSON's types only."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))


@given(st.binary(max_size=300) | st.text(alphabet="&*!|>-:[]{}#?,'\"\n\t \\%@`a1.~<=", max_size=80).map(str.encode))
def test_any_bytes_are_plain_data_or_a_yaml_error(data: bytes) -> None:
    """Nothing else ever comes out."""
    try:
        value = bounded_yaml.loads(data)
    except YamlError:
        return

    assert is_plain(value)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(alphabet="abc é:#'", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet="abc/~ ", max_size=5), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(plain)
def test_plain_data_survives_the_round_trip(value: Any) -> None:
    """What YAML can say without its extras is read as it was written."""
    data = yaml.safe_dump(value, allow_unicode=True).encode()

    assert bounded_yaml.loads(data) == value


@pytest.mark.parametrize(
    ("data", "pointer", "found"),
    [
        (b"a: 1\na: 2\n", "/a", "second time"),
        (b"a: &x [1]\nb: [*x]\n", "/b/0", "an alias"),
        (b"a: &x [*x]\n", "/a/0", "an alias"),
        (b"<<: {a: 1}\n", "", "merge"),
        (b"a: {b: 2001-01-01}\n", "/a/b", "timestamp"),
        (b"a: !!python/object:os.system x\n", "/a", "system"),
        (b"a: !!set {x}\n", "/a", "set"),
        (b"a: !!bool maybe\n", "/a", "KeyError"),
        (b"a: !!int x\n", "/a", "ValueError"),
        (b"1: x\n", "", "1"),
        (b"a: [.nan]\n", "/a/0", "nan"),
        (b"a: 9007199254740992\n", "/a", "larger"),
        (b"a: 0x" + b"f" * 50_000, "/a", "larger"),
        (b"a: " + b"9" * 50_000, "/a", "ValueError"),
        (b"\xff", "", "0xff"),
        (b"a: [", "", "while parsing"),
        (b"a: 1\n---\nb: 2\n", "", "another"),
        (b"[" * 60_000, "/0" * 13, "more"),
        (b"[" * 20 + b"]" * 20, "/0" * 13, "more"),
        (b"- 1\n" * 5_000, "/1999", "more"),
        (b"- " * 30_000, "/0" * 13, "more"),
        (b"#" * 70_000, "", "more"),
    ],
)
def test_what_yaml_allows_beyond_json_is_refused(data: bytes, pointer: str, found: str) -> None:
    """Each refusal names the place and what stands there."""
    with pytest.raises(YamlError) as caught:
        bounded_yaml.loads(data[: bounded_yaml.MAX_BYTES + 1])

    assert caught.value.pointer == pointer
    assert found in caught.value.found
