"""Unusual values for one declared input, each with what it is, for people. Pure.

Values are only proposed here: whether one is right or wrong, the whole declared schema decides (`edge_cases`). So a
schema is read generously (a local reference, the only alternative beside null), and where its type is not plain nothing
is proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Schema = dict[str, Any]
Values = Iterator[tuple[str, Any]]
Maker = Callable[[Schema, Any], Values]

SCRIPTS = "e\u0301 שלום مرحبا 你好 👩‍👩‍👧 𝔘𝔫𝔦"  # combining, right to left, Han, joined emoji, beyond the basic plane
TEXT_BYTES = 32 << 10  # a job travels whole, and is a small message
LONG_CHARS = 4_000
ITEMS = 100
GREATEST = 2**53 - 1  # beyond it, JSON readers disagree about whole numbers
LEVELS = 4


def plain(schema: Schema) -> Schema:
    """*schema* with its reference, or its only alternative beside null, written out; its definitions are kept."""
    for _ in range(LEVELS):
        branches = [one for name in ("anyOf", "oneOf") for one in schema.get(name) or () if _is_value(one)]
        if isinstance(schema.get("$ref"), str):
            written = _target(schema["$ref"], schema)
        elif len(branches) == 1 and isinstance(branches[0], dict):
            (written,) = branches
        else:
            return schema
        rest = {name: value for name, value in schema.items() if name not in ("$ref", "anyOf", "oneOf")}
        schema = {**rest, **written}
    return schema


def kind_of(schema: Schema) -> str | None:
    """The JSON type that *schema* names, the first but null where it names several; None if it names none."""
    declared = schema.get("type")
    if isinstance(declared, list):
        return next((name for name in declared if name != "null"), None)
    if isinstance(declared, str):
        return declared
    return "object" if "properties" in schema else "array" if "items" in schema else None


def scripts(schema: Schema, usual: Any) -> Values:
    """Texts in other scripts."""
    if kind_of(schema) == "string":
        yield "letters of other scripts, combining and astral ones", SCRIPTS


def bounds(schema: Schema, usual: Any) -> Values:
    """The least and the greatest that is declared."""
    match kind_of(schema):
        case "integer" | "number":
            for name, step in (("minimum", 0), ("maximum", 0), ("exclusiveMinimum", 1), ("exclusiveMaximum", -1)):
                if (limit := _number(schema, name)) is not None:
                    yield f"{limit + step:g}, its {name} being {limit:g}", limit + step
        case "string" if isinstance(usual, str):
            for name in ("maxLength", "minLength"):
                if limit := _count(schema, name):
                    yield from ((f"{limit} characters, its {name}", text) for text in texts(usual, limit))
        case "array" if isinstance(usual, list) and usual:
            for name in ("maxItems", "minItems"):
                if (limit := _count(schema, name)) and limit <= ITEMS:
                    yield f"{limit} items, its {name}", _items(usual, limit)


def beyond(schema: Schema, usual: Any) -> Values:
    """Just outside what is declared."""
    match kind_of(schema):
        case "integer" | "number":
            for name, step in (("maximum", 1), ("minimum", -1), ("exclusiveMaximum", 0), ("exclusiveMinimum", 0)):
                if (limit := _number(schema, name)) is not None:
                    yield f"{limit + step:g}, its {name} being {limit:g}", limit + step
        case "string" if isinstance(usual, str):
            for name, step in (("maxLength", 1), ("minLength", -1)):
                if limit := _count(schema, name):
                    about = f"{limit + step} characters, its {name} being {limit}"
                    yield from ((about, text) for text in texts(usual, limit + step))
        case "array" if isinstance(usual, list) and usual:
            for name, step in (("maxItems", 1), ("minItems", -1)):
                if (limit := _count(schema, name)) and limit < ITEMS:
                    yield f"{limit + step} items, its {name} being {limit}", _items(usual, limit + step)


def empty(schema: Schema, usual: Any) -> Values:
    """Nothing, as the type has it."""
    match kind_of(schema):
        case "string" if "enum" not in schema:
            yield "an empty text", ""
        case "array":
            yield "an empty list", []
        case "object":
            yield "an empty object", {}


def choices(schema: Schema, usual: Any) -> Values:
    """Each of the other values that are declared, the last first."""
    declared = schema.get("enum")
    options = declared if isinstance(declared, list) else [True, False] if kind_of(schema) == "boolean" else []
    for option in reversed(options[-ITEMS:]):
        if option != usual:
            yield "another of its declared values", option


def undeclared(schema: Schema, usual: Any) -> Values:
    """None of the values that are declared."""
    if isinstance(schema.get("enum"), list):
        yield "a value that is not one of those declared", "none-of-the-declared"


def unbounded(schema: Schema, usual: Any) -> Values:
    """What is unusual where no limit is declared: numbers around zero and large ones, a long text."""
    match kind_of(schema):
        case "integer" | "number" as kind:
            yield "0", 0
            yield "-1", -1
            yield "a very large number", GREATEST if kind == "integer" else 1e15
        case "string" if isinstance(usual, str) and "maxLength" not in schema:
            yield from ((f"{LONG_CHARS} characters", text) for text in texts(usual, LONG_CHARS))


def wrong_type(schema: Schema, usual: Any) -> Values:
    """A value that cannot be taken for one of the declared type."""
    match kind_of(schema):
        case "string":
            yield "an object where a text is declared", {"not": "a text"}
        case "integer" | "number":
            yield "a text where a number is declared", "no number"
        case "boolean":
            yield "a text where true or false is declared", "neither"
        case "array":
            yield "an object where a list is declared", {"not": "a list"}
        case "object":
            yield "a list where an object is declared", ["not an object"]


def coercible(schema: Schema, usual: Any) -> Values:
    """A value of another type that says the same."""
    match kind_of(schema):
        case "string" if "enum" not in schema:
            yield "a number where a text is declared", 7
        case "integer" | "number" if isinstance(usual, int | float) and not isinstance(usual, bool):
            yield "the text of a number where a number is declared", f"{usual}"


def texts(usual: str, length: int) -> Iterator[str]:
    """*usual* over and over, *length* characters of it; none where that is nothing, or too large to be sent."""
    if 0 < length <= TEXT_BYTES and usual:
        text = (usual * (length // len(usual) + 1))[:length]
        if len(text.encode("utf-8", "surrogatepass")) <= TEXT_BYTES:
            yield text


def _items(usual: list[Any], count: int) -> list[Any]:
    return [usual[index % len(usual)] for index in range(count)]


def _is_value(branch: Any) -> bool:
    return not (isinstance(branch, dict) and branch.get("type") == "null")


def _target(reference: str, root: Schema) -> Schema:
    target: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
    return target if isinstance(target, dict) else {}


def _number(schema: Schema, name: str) -> int | float | None:
    limit = schema.get(name)
    if isinstance(limit, bool) or not isinstance(limit, int | float) or abs(limit) > GREATEST:
        return None
    return limit


def _count(schema: Schema, name: str) -> int:
    limit = _number(schema, name)
    return int(limit) if limit is not None and limit > 0 else 0
