"""Templates filled in."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.canaries import Canaries
from workers.faults import BadJob
from workers.rendering import MAX_CHARS, computed, render

CANARIES = Canaries("job", "PI-01", "attack")


def test_placeholders_are_filled_in_and_other_braces_are_text() -> None:
    """Payloads full of braces need no escaping."""
    x, y = CANARIES.number("x"), CANARIES.number("y")

    text = render('{{{x}*{y}}} ${IFS} {"a": 1} {} {x+y}', CANARIES)

    assert text == f'{{{{{x}*{y}}}}} ${{IFS}} {{"a": 1}} {{}} {x + y}'


def test_pieces_are_filled_in_and_encoded() -> None:
    """A piece may be wrapped; what it holds is not read as a template again."""
    text = render("{order|base64} {order}", CANARIES, {"order": "say {b}"})

    assert text == f"{base64.b64encode(b'say {b}').decode()} say {{b}}"


def test_a_witness_knows_which_of_its_parts_are_computed() -> None:
    """In the order in which they must come back."""
    a, b = CANARIES.word("a"), CANARIES.word("b")
    x, y = CANARIES.number("x"), CANARIES.number("y")

    parts = computed("{b}-{x*y}{a}!", CANARIES)

    assert parts == [(b, False), ("-", False), (str(x * y), True), (a, False), ("!", False)]


@pytest.mark.parametrize("template", ["{no_such}", "{a|no_such}", "{a+b}", "{x+no_such}"])
def test_what_does_not_exist_is_a_bad_job(template: str) -> None:
    """The corpus is newer than this worker, or not ours."""
    with pytest.raises(BadJob):
        render(template, CANARIES)


def test_a_text_that_grows_too_long_is_a_bad_job() -> None:
    """Encodings and pieces may multiply."""
    with pytest.raises(BadJob, match="characters"):
        render("{big|url}", CANARIES, {"big": "x" * (MAX_CHARS // 2)})


@given(st.text(alphabet="{}abxy+*|_base64 ", max_size=60))
def test_any_template_renders_or_is_a_bad_job(template: str) -> None:
    """Nothing else is raised."""
    try:
        text = render(template, CANARIES)
    except BadJob:
        return

    assert isinstance(text, str)
