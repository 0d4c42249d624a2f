"""``json_schema``: valid or not, with schemas and answers that wish us ill."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.evaluators import json_schema
from workers.faults import BadExpectation


def nested(depth: int, core: Any = "x") -> Any:
    value = core
    for _ in range(depth):
        value = {"a": value}
    return value


def doubling(levels: int) -> dict[str, Any]:
    """A schema of *levels* definitions whose checks double with each."""
    definitions: dict[str, Any] = {"a0": {"type": "integer"}}
    for level in range(1, levels + 1):
        definitions[f"a{level}"] = {"allOf": [{"$ref": f"#/$defs/a{level - 1}"}, {"$ref": f"#/$defs/a{level - 1}"}]}
    return {"$ref": f"#/$defs/a{levels}", "$defs": definitions}


TREE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["value"],
}


def score(schema: Any, reply: Any) -> float:
    return json_schema.prepare({"type": "schema", "schema": schema}, {})(reply).value


@pytest.mark.parametrize(
    ("schema", "reply", "expected"),
    [
        ({"type": "integer"}, 5, 1.0),
        ({"type": "integer"}, 5.0, 1.0),
        ({"type": "integer"}, True, 0.0),
        ({"type": "integer"}, 10**40, 1.0),
        ({"type": "integer"}, {"result": 5}, 1.0),
        ({"type": "object", "required": ["result"]}, {"result": 5}, 1.0),
        ({"prefixItems": [{"type": "string"}]}, [1], 0.0),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}, [1], 0.0),
        ({"pattern": r"^\p{L}+$"}, "größe", 1.0),
        (TREE, {"value": 1, "children": [{"value": 2, "children": []}]}, 1.0),
        (TREE, {"value": 1, "children": [{"value": "2"}]}, 0.0),
        (True, None, 1.0),
        (False, None, 0.0),
    ],
)
def test_an_answer_is_valid_or_not(schema: Any, reply: Any, expected: float) -> None:
    """Draft 2020-12 unless the schema names another."""
    assert score(schema, reply) == expected


def test_evidence_points_at_the_violation() -> None:
    """An author reads where the answer breaks the schema."""
    found = json_schema.prepare({"schema": {"properties": {"a/b": {"type": "string"}}}}, {})({"a/b": 1})

    assert '/a~1b: 1 is not of type "string"' in found.evidence


@pytest.mark.parametrize(
    ("expected", "pointer"),
    [
        ({}, "/expected/schema"),
        ({"schema": []}, "/expected/schema"),
        ({"schema": "x"}, "/expected/schema"),
        ({"schema": {"type": "strin"}}, "/expected/schema/type"),
        ({"schema": {"properties": {"a": {"pattern": "("}}}}, "/expected/schema/properties/a/pattern"),
        ({"schema": {"pattern": "(?=a)b"}}, "/expected/schema/pattern"),
        ({"schema": {"$ref": "http://127.0.0.1:1/schema.json"}}, "/expected/schema"),
        ({"schema": {"$ref": "file:///etc/passwd"}}, "/expected/schema"),
        ({"schema": {"$ref": "#/$defs/none"}}, "/expected/schema"),
        ({"schema": {"$schema": "http://example.com/own"}}, "/expected/schema"),
        ({"schema": {"properties": {"a": {"$id": "x", "$ref": "#"}}}}, "/expected/schema"),
        ({"schema": doubling(40)}, "/expected/schema"),
        ({"schema": {"const": nested(300)}}, "/expected/schema"),
        ({"schema": {"const": nested(5_000)}}, "/expected/schema"),
    ],
)
def test_a_faulty_schema_is_refused(expected: Any, pointer: str) -> None:
    """Invalid schemas, references to elsewhere, and schemas that would check without end are refused beforehand."""
    with pytest.raises(BadExpectation) as caught:
        json_schema.prepare(expected, {})

    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$dynamicRef": "#m", "$dynamicAnchor": "m"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    ],
)
def test_a_schema_that_refers_to_itself_ends(schema: Any) -> None:
    """A circle of references is no endless loop."""
    assert score(schema, 5) in (0.0, 1.0)


def test_an_answer_that_would_be_checked_without_end_is_not_valid() -> None:
    """Two alternatives that both go deeper cost 2^depth: shallow answers are checked, deep ones are declined."""
    deeper = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    evaluate = json_schema.prepare({"schema": {"anyOf": [deeper, {**deeper}, {"type": "integer"}]}}, {})

    assert evaluate(nested(5, 1)).value == 1.0
    assert evaluate(nested(5)).value == 0.0
    assert "too large to be checked" in evaluate(nested(60)).evidence


def test_a_deep_answer_to_a_plain_recursive_schema_is_checked() -> None:
    """One way down costs no more than the answer is deep."""
    chain = {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False}

    assert score(chain, nested(90, {})) == 1.0
    assert score(chain, nested(90, {"b": 1})) == 0.0


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYWORDS = st.sampled_from(
    ["type", "items", "properties", "$ref", "$id", "anyOf", "not", "prefixItems", "$defs", "enum", "pattern", "$anchor"]
)


@given(
    schema=JSON_VALUES
    | st.recursive(
        st.booleans() | st.text(max_size=5) | st.just("#"),
        lambda inner: st.dictionaries(KEYWORDS, inner | st.lists(inner, max_size=2), max_size=3),
    ),
    reply=JSON_VALUES,
)
def test_anything_taken_as_a_schema_is_refused_or_works(schema: Any, reply: Any) -> None:
    """No value whatever, taken as a schema, makes anything else than a refusal or a score."""
    try:
        evaluate = json_schema.prepare({"schema": schema}, {})
    except BadExpectation:
        return

    assert evaluate(reply).value in (0.0, 1.0)


def test_a_faulty_answer_is_never_our_crash() -> None:
    """Lone surrogates and endless nesting in an answer are the skill's violation."""
    assert score({"type": "string"}, "\ud800") == 0.0
    assert score({"type": "string"}, nested(400)) == 0.0
