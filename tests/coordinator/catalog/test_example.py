from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.catalog.example import example, is_guessed, value
from coordinator.catalog.schemas import problem
from coordinator.catalog.skill import Parameter


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 60, "maxLength": 61},
        {"type": "string", "maxLength": 2},
        {"type": "string", "pattern": "^[A-Z]{3}$"},
        {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        {"type": "integer", "minimum": 10, "multipleOf": 7},
        {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
        {"type": "integer", "maximum": -4},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.1},
        {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}], "items": False},
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a", "b"]},
        {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 7}]},
        {"allOf": [{"type": "integer"}, {"minimum": 12}]},
        {"$ref": "#/$defs/x", "$defs": {"x": {"enum": ["k", "l"]}}},
        {"type": ["null", "boolean"]},
        {"const": {"a": 1}},
        {"enum": [None, 2]},
    ],
)
def test_made_value_is_valid(schema: dict[str, Any]) -> None:
    """A value made from a schema satisfies it."""
    assert problem(schema, value("thing", schema)) is None


@settings(deadline=None)
@given(low=st.integers(-(10**6), 10**6), width=st.integers(0, 50), whole=st.booleans())
def test_made_number_is_within_its_limits(low: int, width: int, whole: bool) -> None:
    """Between two declared limits there is always a number to be found."""
    schema = {"type": "integer" if whole else "number", "minimum": low, "maximum": low + width}

    assert problem(schema, value("n", schema)) is None


@pytest.mark.parametrize(
    ("name", "start"),
    [("imageUrl", "https://"), ("email_address", "ada@"), ("start-date", "2024-"), ("blah", "The museum")],
)
def test_name_tells_what_a_text_is(name: str, start: str) -> None:
    """Where the schema says no more than string, the name decides."""
    assert value(name, {"type": "string"}).startswith(start)


def test_optional_inputs_are_left_out_unless_the_manifest_gives_a_value() -> None:
    """An example has all required inputs, and the optional ones whose value is declared."""
    inputs = [
        Parameter(name="a", schema={"type": "integer"}),
        Parameter(name="b", required=False),
        Parameter(name="c", required=False, schema={"default": 4}),
        Parameter(name="d", required=False, example=None),
        Parameter(name="", description="prose"),
    ]

    assert example(inputs) == {"a": 3, "c": 4, "d": None}


def test_value_without_end_is_cut() -> None:
    """A schema that asks for more and more of itself gives a small value, not a full memory."""
    schema = {"type": "array", "items": {"$ref": "#"}, "minItems": 100}

    assert len(str(value("x", schema))) < 10_000


def test_the_description_tells_what_a_text_looks_like() -> None:
    """In the manifest's own words or in the schema's; a declared value goes before, an invalid one is not taken."""
    inputs = (
        Parameter(name="time", schema={"type": "string", "description": "24-hour format (HH:MM)"}),
        Parameter(name="zone", schema={"type": "string"}, description="e.g. 'Asia/Tokyo'"),
        Parameter(name="unit", schema={"type": "string", "default": "km"}, description="such as 'miles'"),
        Parameter(name="code", schema={"type": "string", "pattern": "^[A-Z]{3}$"}, description="e.g. 'euro'"),
    )

    made = example(inputs)

    assert made == {"time": "09:30", "zone": "Asia/Tokyo", "unit": "km", "code": "EUR"}


@pytest.mark.parametrize(
    ("parameter", "guessed"),
    [
        (Parameter(name="text", schema={"type": "string"}), True),
        (Parameter(name="id", schema={"type": "integer"}), True),
        (Parameter(name="zone", schema={"type": "string"}, description="e.g. 'Asia/Tokyo'"), True),
        (Parameter(name="text", schema={"type": "string"}, example="hello"), False),
        (Parameter(name="unit", schema={"enum": ["km", "miles"]}), False),
        (Parameter(name="on", schema={"type": "boolean"}), False),
        (Parameter(name="more", schema={"type": "string"}, required=False), False),
    ],
)
def test_a_value_that_no_manifest_gives_is_a_guess(parameter: Parameter, guessed: bool) -> None:
    """One of them is enough to make the whole call a guess."""
    given_too = Parameter(name="a", schema={"type": "integer"}, example=3)

    assert is_guessed((given_too, parameter)) is guessed
