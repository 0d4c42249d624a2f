from __future__ import annotations

from typing import Any

import pytest

from coordinator.catalog.rejection import Rejected
from coordinator.catalog.schemas import check_schema, embedded, problem


def chain(links: int) -> dict[str, Any]:
    twice = [{"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]} for i in range(links)]
    return {"$ref": "#/$defs/d0", "$defs": {f"d{i}": link for i, link in enumerate([*twice, {"type": "integer"}])}}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": ["string", "null"], "pattern": "^[a-z]+$"}, "a", "A"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}, ["a", 1], [1]),
        ({"properties": {"$ref": {"type": "string"}, "default": {"const": {"$ref": "x"}}}}, {"$ref": "x"}, {"$ref": 1}),
        ({"type": "object", "properties": {"l": {"$ref": "#"}, "r": {"$ref": "#"}}}, {"l": {"r": {}}}, {"l": {"r": 1}}),
        ({"type": "object", "properties": {"n": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}, {"n": None}, {"n": 1}),
        ({"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {"type": "integer"}}}, 1, "1"),
        ({"$ref": "#here", "$defs": {"x": {"$anchor": "here", "type": "integer"}}}, 1, "1"),
        (chain(8), 1, "1"),
    ],
)
def test_honest_schemas_are_taken(schema: dict[str, Any], good: Any, bad: Any) -> None:
    """Other drafts, local references, anchors, trees and linked lists are taken, and tell good values from bad."""
    check_schema(schema, "/s")

    assert problem(schema, good) is None
    assert problem(schema, bad) is not None


def test_schemas_that_only_look_alike_are_told_apart() -> None:
    """A validator is made once for each schema, and never shared by two that mean different things."""
    large = 10**30

    assert problem({"const": None}, None) is None
    assert problem({"const": 1}, True) is not None
    assert problem({"const": True}, True) is None
    assert problem({"maximum": large}, large + 1) is not None
    assert problem({"maximum": large}, large) is None
    assert problem({"required": ["1"]}, {"1": 0}) is None
    assert problem({"required": ["2"]}, {"1": 0}) is not None


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (True, "/s"),
        ({"type": "obj"}, "/s/type"),
        ({"properties": {"a/b": {"required": "x"}}}, "/s/properties/a~1b/required"),
        ({"pattern": "(a)\\1"}, "/s/pattern"),
        ({"$ref": "#/$defs/none"}, "/s"),
        ({"$ref": "file:///etc/passwd"}, "/s/$ref"),
        ({"items": {"$dynamicRef": "https://example.com/x"}}, "/s/items/$dynamicRef"),
        ({"$schema": "https://example.com/dialect"}, "/s"),
        ({"properties": {"a": {"$id": "urn:x"}}}, "/s/properties/a/$id"),
        ({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}, "/s/$defs/b/$anchor"),
        (chain(60), "/s"),
    ],
)
def test_unusable_schemas_are_refused_where_they_are(schema: Any, pointer: str) -> None:
    """Invalid schemas, references to elsewhere and references that multiply without bound are refused."""
    with pytest.raises(Rejected) as refused:
        check_schema(schema, "/s")

    assert refused.value.pointer == pointer


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_recursion_with_two_ways_in_is_refused(keyword: str) -> None:
    """A schema that recurses twice for one value doubles its cost with each level of that value."""
    branch = {"properties": {"x": {"$ref": "#/$defs/a"}}}

    with pytest.raises(Rejected, match="at most one recursive alternative"):
        check_schema({"$ref": "#/$defs/a", "$defs": {"a": {keyword: [branch, dict(branch)]}}}, "/s")


def test_long_chain_of_references_is_refused_without_running_out_of_stack() -> None:
    """A chain of thousands of references is a refusal like any other."""
    links = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(5_000)}

    with pytest.raises(Rejected, match="in a row"):
        check_schema({"$ref": "#/$defs/d0", "$defs": {**links, "d5000": {}}}, "/s")


def test_embedded_schema_keeps_its_meaning() -> None:
    """References and dialect of a parameter's schema still hold inside the schema of all parameters."""
    own = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}

    whole = {"properties": {"a": embedded(own, "a"), "b": embedded(old, "b")}}

    assert problem(whole, {"a": 1, "b": ["x", 2]}) is None
    assert problem(whole, {"a": "x"}) == '/a: "x" is not of type "integer"'
    assert problem(whole, {"b": [1]}) == '/b/0: 1 is not of type "string"'
