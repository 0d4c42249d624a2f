"""``exact``: deep JSON equality, and what coerce adds to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.evaluators import exact
from workers.faults import BadExpectation

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


def score(value: Any, reply: Any, **options: Any) -> float:
    return exact.prepare({"type": "exact", "value": value}, options)(reply).value


@given(value=VALUES)
def test_a_value_equals_itself_after_a_round_trip(value: Any) -> None:
    """Whatever goes over the wire and comes back is equal."""
    assert score(value, json.loads(json.dumps(value))) == 1.0


@given(value=VALUES, reply=VALUES)
def test_equality_is_symmetric_and_never_raises(value: Any, reply: Any) -> None:
    """Bare values are equal in both directions or in none."""
    assert score(value, [reply]) == score([reply], value, coerce=False)


@pytest.mark.parametrize(
    ("value", "reply", "expected"),
    [
        (1, 1.0, 1.0),
        (1, True, 0.0),
        (0, False, 0.0),
        (0, None, 0.0),
        ([1, {"a": 2}], [1.0, {"a": 2.0}], 1.0),
        ([1], [True], 0.0),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1.0),
        ({"a": 1}, {"a": 1, "b": 2}, 0.0),
        ([1, 2], [2, 1], 0.0),
        (2**53, 2**53 + 1, 0.0),
        ({}, [], 0.0),
        (5, "5", 0.0),
    ],
)
def test_equality_is_that_of_json(value: Any, reply: Any, expected: float) -> None:
    """Numbers are equal by value, booleans are no numbers, objects have no order, lists have one."""
    assert score(value, reply) == expected


@pytest.mark.parametrize(
    ("value", "reply", "expected"),
    [
        ("2", 2, 1.0),
        ("25.0", 25, 1.0),
        ("25", "2.5e1", 1.0),
        ("0", "-0.000e7", 1.0),
        (" yes ", "yes", 1.0),
        ("true", True, 1.0),
        ("null", None, 1.0),
        ("02", 2, 0.0),
        ("1e400", "1e401", 0.0),
        ("1e400", "10e399", 1.0),
        ("1e999999999", 1, 0.0),
        ("1e999999999", "10e999999998", 1.0),
        ("-1", "1", 0.0),
        ("[1]", [1], 0.0),
        ("inf", "Infinity", 0.0),
        ("1" + "0" * 5000, "1" + "0" * 5000 + ".0", 0.0),
    ],
)
def test_a_text_is_compared_by_its_text(value: str, reply: Any, expected: float) -> None:
    """Where the value is a text, scalars match by trimmed JSON text, and JSON numbers as numbers of any size."""
    assert score(value, reply) == expected


@given(number=st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_matches_its_own_text(number: float) -> None:
    """A number and the text that JSON writes for it are the same under coerce."""
    assert score(number, json.dumps(number), coerce=True) == 1.0


def test_coerce_can_be_switched_on_and_off() -> None:
    """The option overrides the default, in either place."""
    assert score(25, "25.0") == 0.0
    assert score(25, "25.0", coerce=True) == 1.0
    assert score("25", 25, coerce=False) == 0.0
    assert exact.prepare({"value": "25", "coerce": False}, {})(25).value == 0.0


@pytest.mark.parametrize(
    ("reply", "where"),
    [
        ({"result": 5, "output": 6}, "result"),
        ({"output": 5}, "output"),
        ({"answer": 5, "text": 6}, "answer"),
        ({"text": 5}, "text"),
    ],
)
def test_the_first_result_member_counts_too(reply: Any, where: str) -> None:
    """The better of the reply and its result member counts, and the evidence says which."""
    found = exact.prepare({"value": 5}, {})(reply)

    assert found.value == 1.0
    assert f"'{where}'" in found.evidence


def test_only_the_first_member_is_looked_at() -> None:
    """A skill cannot try several answers at once."""
    assert score(5, {"result": 6, "output": 5}) == 0.0


def test_a_whole_object_can_be_expected() -> None:
    """Where the reply itself is what is expected, the evidence says so."""
    found = exact.prepare({"value": {"result": 5}}, {})({"result": 5})

    assert found.value == 1.0
    assert "compared: the reply)" in found.evidence


def test_evidence_shows_both_sides_and_stays_short() -> None:
    """A wrong answer is quoted, a huge one is cut."""
    found = exact.prepare({"value": 5}, {})("x" * 100_000)

    assert "expected 5, found" in found.evidence
    assert len(found.evidence) < 500


@pytest.mark.parametrize(
    ("expected", "options", "pointer"),
    [
        ({}, {}, "/expected/value"),
        ({"type": "contains", "value": 1}, {}, "/expected/type"),
        ({"value": 1}, {"coerce": "yes"}, "/options/coerce"),
        ({"value": 1, "coerce": 1}, {}, "/expected/coerce"),
        ({"value": 1}, {"a/b~": 1}, "/options/a~1b~0"),
    ],
)
def test_a_faulty_expectation_is_refused(expected: Any, options: Any, pointer: str) -> None:
    """Nothing is left to find out while the skill is being called."""
    with pytest.raises(BadExpectation) as caught:
        exact.prepare(expected, options)

    assert caught.value.pointer == pointer
