"""Failure modes: which unusual calls a sentence of a manifest is about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.catalog.skill import FailureMode
from coordinator.failure_modes import SHOWN_CHARS, declared


def found(kind: str, condition: str, behaviour: str = "", *, name: str = "text", value: Any = "x") -> Any:
    return declared(kind, name, value, [FailureMode(condition=condition, behaviour=behaviour)])


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("malformed", "The body is not valid JSON"),
        ("missing", "A required field is missing"),
        ("missing", "`text` not given"),
        ("wrong type", "An input has the wrong type"),
        ("extra", "Unknown parameter"),
        ("beyond", "The text is longer than 500 characters"),
        ("undeclared", "Unsupported value for text"),
    ],
)
def test_a_plain_sentence_is_about_its_kind_of_call(kind: str, condition: str) -> None:
    """Each kind is recognised by what it is called in plain words."""
    assert found(kind, condition) is not None


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("missing", "The upstream service is absent"),
        ("malformed", "The network is down"),
        ("extra", "Unexpected overload"),
        ("unicode", "An input is missing"),
        ("undeclared", "Unknown city"),
    ],
)
def test_other_sentences_are_left_alone(kind: str, condition: str) -> None:
    """What cannot be brought about by the call, or means another input, is nobody's obligation."""
    assert found(kind, condition, name="unit") is None


def test_a_number_is_out_of_range_and_a_text_too_long() -> None:
    """The kind is the same, the words are those of the value's type."""
    assert found("beyond", "count exceeds its limit", value=7) is not None
    assert found("beyond", "count exceeds its limit", value="seven") is None
    assert found("beyond", "The text is too long", value=7) is None


@pytest.mark.parametrize(
    ("behaviour", "statuses", "refused"),
    [
        ("Answers 422 with the field's name", (422,), True),
        ("HTTP 400 or 413.", (400, 413), True),
        ("Returns at most 404 results", (), True),
        ("The rest is ignored", (), False),
        ("", (), True),
        ("Raises an error", (), True),
    ],
)
def test_the_behaviour_tells_status_and_refusal(behaviour: str, statuses: tuple[int, ...], refused: bool) -> None:
    """Only a 4xx status in so many words is a promise; silence on the behaviour is a refusal."""
    mode = found("missing", "an input is missing", behaviour)

    assert (mode.statuses, mode.refused) == (statuses, refused)


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=20))
def test_any_prose_is_read_without_harm(condition: str, behaviour: str, name: str) -> None:
    """Whatever is written, the result is nothing or one short line with statuses from 400 to 499."""
    for kind in ("missing", "beyond", "empty"):
        mode = found(kind, condition, behaviour, name=name, value="")
        if mode is not None:
            assert len(str(mode)) <= SHOWN_CHARS
            assert "\n" not in str(mode)
            assert all(400 <= status < 500 for status in mode.statuses)
