"""Schemas that strangers declare: refused when they are invalid, reach outside, or would cost without bound.

They run in jsonschema-rs with linear-time patterns. Three things it would do by itself are taken from it: fetching
remote references, backtracking patterns (look-around and back-references are refused), and following references that
multiply: a chain of 25 links in which each uses the next twice cost it half a second, 60 would never end.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jsonschema_rs

from coordinator.catalog.expansion import REFERENCES, check_expansion
from coordinator.catalog.rejection import Rejected, child, printable, shown

PATTERN_BYTES = 1 << 20
COMPILED = 256
COMPILED_CHARS = 16_384


def check_schema(schema: Any, pointer: str) -> None:
    """Refuse *schema*, which stands at *pointer*, unless it can be used.

    Raises:
        Rejected: If it is no valid JSON Schema (2020-12 unless its ``$schema`` says otherwise), refers to anything
            outside itself, or expands too far.
    """
    if not isinstance(schema, dict):
        raise Rejected(pointer, "a JSON Schema object", shown(schema))
    check_expansion(schema, pointer)
    try:
        validator(schema)
    except jsonschema_rs.ValidationError as error:
        for step in error.instance_path:
            pointer = child(pointer, step)
        raise Rejected(pointer, "a valid JSON Schema", printable(error.message[:160])) from None
    except (ValueError, OverflowError, UnicodeError, jsonschema_rs.ReferencingError) as error:
        raise Rejected(pointer, "a valid JSON Schema", printable(str(error)[:160])) from None


def validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    """The validator of *schema*; nothing is fetched and patterns run in linear time.

    Raises:
        ValueError: If the schema is unusable (`jsonschema_rs.ValidationError` is one).
    """
    try:
        # Not msgspec: it writes NaN as null, and reads large integers as floats.
        text = json.dumps(schema)
    except (TypeError, ValueError, RecursionError):  # no JSON: the library says what is wrong with it
        return _compiled(schema)
    return _compiled(schema) if len(text) > COMPILED_CHARS else _known(text)


@lru_cache(maxsize=COMPILED)
def _known(text: str) -> jsonschema_rs.Validator:
    """The validator by its schema's text: the skills of a catalog are often alike, and compiling takes the longest."""
    return _compiled(json.loads(text))


def _compiled(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    options = jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES, dfa_size_limit=PATTERN_BYTES)
    return jsonschema_rs.validator_for(schema, offline=True, pattern_options=options)


def problem(schema: dict[str, Any], value: Any) -> str | None:
    """What is wrong with *value* by *schema*, in one printable line; None if nothing is, or if nobody can tell."""
    return problems(schema)(value)


def problems(schema: dict[str, Any]) -> Callable[[Any], str | None]:
    """`problem` for many values of one *schema*."""
    try:
        compiled = validator(schema)
    except ValueError:  # a part of a schema, whose references end outside it
        return lambda value: None

    def problem_of(value: Any) -> str | None:
        error = next(compiled.iter_errors(value), None)
        if error is None:
            return None
        where = "".join(child("", step) for step in error.instance_path)
        return f"{where}: {printable(error.message[:160])}" if where else printable(error.message[:160])

    return problem_of


def embedded(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """*schema* such that it means the same as the member *name* of a greater schema.

    Its ``#/...`` references start at its own root and its ``$schema`` is its own: an ``$id`` keeps both.
    """
    own = {"$schema", "$ref", "$defs", "definitions", "$anchor", "$dynamicAnchor"}
    if "$id" in schema or not (own & schema.keys() or _refers(schema)):
        return schema
    return {"$id": f"urn:skillmark:{name.encode().hex()}", **schema}


def _refers(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_refers, value))
    return isinstance(value, dict) and (any(name in value for name in REFERENCES) or any(map(_refers, value.values())))
