"""Values that the description of an input names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.catalog.described import VALUE_CHARS, VALUES, values


@pytest.mark.parametrize(
    ("description", "first"),
    [
        (
            "IANA timezone name (e.g., 'America/New_York', 'Europe/London'). Use 'UTC' if none.",
            "America/New_York",
        ),
        ("The city, for example Lisbon.", "Lisbon"),
        ("City such as “New York” or Paris", "New York"),
        ("e.g. New York or Paris", "New York"),
        ("Examples: 2024-01-01, 2024-02-03", "2024-01-01"),
        ("File to read, e.g. ./src/main.py", "./src/main.py"),
        ("Example: `a b`", "a b"),
    ],
)
def test_an_example_in_words_is_taken(description: str, first: str) -> None:
    """Quoted or not, up to where the sentence goes on."""
    assert next(values(description)) == first


@pytest.mark.parametrize(
    ("description", "value"),
    [
        ("Time to convert in 24-hour format (HH:MM)", "09:30"),
        ("Start time as HH:MM:SS", "09:30:00"),
        ("The day (YYYY-MM-DD)", "2024-05-17"),
        ("When, as YYYY-MM-DD HH:MM", "2024-05-17T09:30:00Z"),
        ("An ISO 4217 currency code", "EUR"),
        ("Any IANA time zone", "Europe/Lisbon"),
        ("A JSON string with the settings", "{}"),
    ],
)
def test_a_form_in_words_gives_a_value_of_it(description: str, value: str) -> None:
    """Of two that are named the longer one counts."""
    assert list(values(description)) == [value]


@pytest.mark.parametrize(
    "description", ["", "The text to shorten.", "Used e.g. when the user wants to know more about it", "An example"]
)
def test_words_that_give_no_value_give_none(description: str) -> None:
    """What goes on as a sentence is no value."""
    assert list(values(description)) == []


@given(st.text(max_size=200).map(lambda text: f"e.g. {text} such as '{text}'" * 20))
def test_whatever_is_written_the_values_are_few_and_short(description: str) -> None:
    """A description is a stranger's text."""
    found = list(values(description))

    assert len(found) <= VALUES + 1
    assert all(len(value) <= VALUE_CHARS for value in found)
