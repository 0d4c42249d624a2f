"""Which inputs take any text, and how a text gets there."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.fields import leaves, place


def schema(**properties: Any) -> dict[str, Any]:
    """An input schema with these *properties*."""
    return {"type": "object", "properties": properties}


def free(described: dict[str, Any], example: dict[str, Any]) -> list[str]:
    """The names of the inputs that take any text."""
    return [leaf.name for leaf in leaves(described, example) if leaf.is_free_text]


@pytest.mark.parametrize(
    ("declared", "example", "names"),
    [
        ({"type": "string"}, "x", ["f"]),
        ({"type": ["string", "null"]}, "x", ["f"]),
        ({"type": "string", "maxLength": 500}, "x", ["f"]),
        ({}, "x", ["f"]),
        ({}, 7, []),
        ({"type": "integer"}, 7, []),
        ({"type": "string", "enum": ["a"]}, "a", []),
        ({"type": "string", "const": "a"}, "a", []),
        ({"type": "string", "pattern": "^a"}, "a", []),
        ({"type": "string", "format": "date"}, "2026-01-01", []),
        ({"type": "array", "items": {"type": "string"}}, ["x"], ["f[0]"]),
        ({"type": "array"}, ["x"], ["f[0]"]),
        ({"type": "array", "items": {"type": "string"}}, [], ["f[0]"]),
        ({"type": "object", "properties": {"g": {"type": "string"}}}, {}, ["f.g"]),
        ({"type": "object"}, {"g": {"h": "x"}}, ["f.g.h"]),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 7, ["f"]),
        ({"oneOf": [{"type": "string", "enum": ["a"]}, {"type": "string"}]}, "x", ["f"]),
        ({"$ref": "#/$defs/text"}, "x", ["f"]),
        ({"$ref": "#/$defs/loop"}, None, []),
        ({"$ref": "https://example.com/schema"}, None, []),
        (True, "x", ["f"]),
    ],
)
def test_an_input_takes_free_text_if_nothing_restricts_it(declared: Any, example: Any, names: list[str]) -> None:
    """In objects and lists too, through references and alternatives; without a type the example decides."""
    described = schema(f=declared) | {"$defs": {"text": {"type": "string"}, "loop": {"$ref": "#/$defs/loop"}}}

    assert free(described, {"f": example}) == names


def test_inputs_keep_their_declared_order_and_examples_add_theirs() -> None:
    """What is tried first does not depend on chance."""
    described = schema(b={"type": "string"}, a={"type": "string"})

    assert free(described, {"z": "x", "a": "x", "b": "x"}) == ["b", "a", "z"]


def test_a_schema_that_refers_to_itself_ends() -> None:
    """Bounded in depth."""
    node = {"type": "object", "properties": {"text": {"type": "string"}, "next": {"$ref": "#/properties/node"}}}

    names = free(schema(node=node), {})

    assert names[0] == "node.text"
    assert len(names) < 10


@pytest.mark.parametrize(
    ("name", "says"),
    [
        *[
            (name, True)
            for name in ("user", "user_id", "userId", "tenant", "TenantID", "session-id", "account", "userid")
        ],
        *[(name, True) for name in ("customer_name", "orgKey", "conversation_id")],
        *[
            (name, False)
            for name in ("text", "id", "name", "user_message", "accounting", "user_text", "query", "usage")
        ],
    ],
)
def test_a_name_tells_who_is_calling(name: str, says: bool) -> None:
    """An identifier of somebody, not a text by somebody."""
    assert leaves(schema(**{name: {"type": "string"}}), {})[0].is_identity is says


def test_an_identifier_inside_a_caller_object_tells_who_is_calling() -> None:
    """``user.id`` does, ``user.message`` does not."""
    found = leaves({}, {"user": {"id": "x", "message": "y"}})

    assert [leaf.is_identity for leaf in found] == [True, False]


def test_a_text_is_placed_and_the_rest_left_alone() -> None:
    """Neither the example nor its parts are changed."""
    example = {"a": [{"b": "x", "c": 1}, {"b": "y"}], "d": "z"}

    placed = place(example, ("a", 0, "b"), "new", {})

    assert placed == {"a": [{"b": "new", "c": 1}, {"b": "y"}], "d": "z"}
    assert example == {"a": [{"b": "x", "c": 1}, {"b": "y"}], "d": "z"}


def test_a_missing_object_gets_what_it_requires() -> None:
    """The call stays valid around the text."""
    inner = {
        "type": "object",
        "required": ["kind", "n", "deep", "text"],
        "properties": {
            "kind": {"enum": ["a", "b"]},
            "n": {"type": "integer", "minimum": 5},
            "deep": {"type": "object", "required": ["on"], "properties": {"on": {"type": "boolean"}}},
            "text": {"type": "string"},
        },
    }
    described = schema(filter=inner)

    placed = place({}, ("filter", "text"), "new", described)

    jsonschema.validate(placed, described)
    assert placed["filter"]["text"] == "new"


KEYS = st.sampled_from(
    [
        *("type", "properties", "items", "anyOf", "oneOf", "$ref", "enum", "required", "maxLength"),
        *("string", "object", "array", "#/a"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, JSON, max_size=5), st.dictionaries(KEYS, JSON, max_size=4))
def test_any_schema_and_any_example_are_walked(described: dict[str, Any], example: dict[str, Any]) -> None:
    """Whatever a publisher wrote: each input that is found can be filled."""
    for leaf in leaves(described, example):
        placed: Any = place(example, leaf.path, "new", described)
        for part in leaf.path:
            placed = placed[part]
        assert placed == "new"
        assert leaf.is_identity in (True, False)
        assert leaf.name
