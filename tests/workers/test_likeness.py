"""Answers compared apart from what they repeat."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.likeness import features, signature
from workers.observation import Answered, Broke, Failed, Refused, Value

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def answered(value: Any, *, status: int = 200, reply: Any = None) -> Answered:
    """An answer of JSON *value*."""
    return Answered(
        status=status, headers=(), body=json.dumps(value).encode(), elapsed_ms=1.0, reply=reply or Value(value)
    )


@pytest.mark.parametrize(
    "wrap", [lambda text: text, lambda text: {"said": [text], "n": 3}, lambda text: f"You: {text}!"]
)
def test_an_echo_of_another_text_is_the_same_answer(wrap: Any) -> None:
    """Whole, nested, in a sentence, in capitals."""
    one, other = "green tea", 'black\' AND 1=1 "quoted"'

    assert signature(answered(wrap(one)), one) == signature(answered(wrap(other)), other)
    assert signature(answered(wrap(one.upper())), one) == signature(answered(wrap(other.upper())), other)


def test_a_short_text_is_not_found_in_everything() -> None:
    """Only where it is a whole value."""
    assert signature(answered("4 teas"), "4") != signature(answered("5 teas"), "5")
    assert signature(answered(["4"]), "4") == signature(answered(["5"]), "5")


def test_status_and_content_make_the_difference() -> None:
    """A refusal counts, a failure decides nothing."""
    refused = answered({"error": "no"}, status=400, reply=Refused("no"))

    assert signature(refused, "x") != signature(answered({"error": "no"}), "x")
    assert signature(answered({}, status=500, reply=Failed("x")), "x") is None
    assert signature(Broke(reason="cut", elapsed_ms=1.0), "x") is None


def test_what_repeats_the_claim_is_no_feature() -> None:
    """Neither its name nor its value, wherever the skill puts them."""
    given = frozenset({"role", "admin", "is_admin", "true"})

    plain = features(answered({"text": "hello", "role": "guest"}), given)
    claimed = features(answered({"text": "hello", "role": "admin", "seen": {"is_admin": True}}), given)

    assert plain == claimed


def test_new_values_are_features() -> None:
    """By their place and their words."""
    found = features(answered({"text": "hello", "internal": {"supplier": "North Sea"}}), frozenset())

    assert found is not None
    assert found.places == {"/text", "/internal/supplier"}
    assert found.words == {"hello", "north", "sea"}


@given(JSON, st.text(max_size=20))
def test_any_answer_can_be_compared(value: Any, sent: str) -> None:
    """With itself it is the same."""
    assert signature(answered(value), sent) == signature(answered(value), sent)
    assert features(answered(value), frozenset({sent})) is not None
