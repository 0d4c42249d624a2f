"""Declared inputs and outputs, in both published shapes: objects, and plain lines of text.

A line that is a name, with a type in brackets or a description after it if need be, declares that name: ``query``,
``limit (integer, optional)``, ``query: what to look for``. Inputs of that shape are strings unless they say otherwise,
outputs are untyped. Any other line is prose: it describes, and declares nothing that could be sent or checked, so it
becomes a parameter without a name; what that means is for the format to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from coordinator.catalog.fields import Fields
from coordinator.catalog.rejection import Rejected, child, shown
from coordinator.catalog.schemas import check_schema, embedded
from coordinator.catalog.skill import Parameter
from coordinator.catalog.types import is_type, type_schema

MAX_PARAMETERS = 200
MAX_LINE_CHARS = 2_000  # a longer line is prose
LINE = re.compile(
    r"""(?P<name>[A-Za-z_$][\w$.-]{0,99})
        \s*(?:\((?P<brackets>[^()]{1,200})\))?
        \s*(?:(?::|\s[-–—]\s)\s*(?P<description>.*))?""",
    re.DOTALL | re.VERBOSE,
)


def parameters(fields: Fields, name: str, untyped: dict[str, Any]) -> tuple[Parameter, ...]:
    """The parameters that the member *name* of *fields* lists; a line without a type gets the schema *untyped*.

    Raises:
        Rejected: If the list is missing, one of it is not a parameter, or two have one name.
    """
    found: list[Parameter] = []
    names: set[str] = set()
    for index, item in enumerate(fields.items(name, most=MAX_PARAMETERS, required=True)):
        pointer = child(fields.at(name), index)
        parameter = _of_line(item, pointer, untyped) if isinstance(item, str) else _of_object(item, pointer)
        if parameter.name in names:
            raise Rejected(pointer, "each name once", f"{shown(parameter.name)} again")
        if parameter.name:
            names.add(parameter.name)
        found.append(parameter)
    return tuple(found)


def object_schema(declared: Iterable[Parameter]) -> dict[str, Any]:
    """The schema of an object with the *declared* members; those without a name are left out."""
    named = [parameter for parameter in declared if parameter.name]
    return {
        "type": "object",
        "properties": {parameter.name: embedded(parameter.schema, parameter.name) for parameter in named},
        "required": [parameter.name for parameter in named if parameter.required],
    }


def _of_line(line: str, pointer: str, untyped: dict[str, Any]) -> Parameter:
    line = line.strip()
    if not line:
        raise Rejected(pointer, 'a name, such as "query" or "query: what to look for"', shown(line))
    match = LINE.fullmatch(line) if len(line) <= MAX_LINE_CHARS else None
    if match is None:
        return Parameter(name="", description=line)
    description = (match["description"] or "").strip()
    required, schema, assumed = True, untyped, True
    for words in (match["brackets"] or "").split(","):
        word = words.strip()
        if word.lower() in ("optional", "required"):
            required, assumed = word.lower() == "required", False
        elif len(word.split()) == 1:
            schema = type_schema(word, pointer)
        elif word:
            description = f"{word}; {description}" if description else word
    if is_type(description):
        schema, description = type_schema(description, pointer), ""
    assumed = assumed and schema is untyped
    return Parameter(name=match["name"], schema=schema, description=description, required=required, assumed=assumed)


def _of_object(item: Any, pointer: str) -> Parameter:
    fields = Fields(item, pointer, expected="an object with name and type, or a line of text")
    name = fields.line("name", required=True)
    declared = fields.get("type")
    schema = {} if declared is None else type_schema(declared, fields.at("type"))
    own = fields.get("schema")
    if own is not None:
        at = fields.at("schema")
        check_schema(own, at)
        if "type" in schema and not _agree(schema["type"], own.get("type")):
            raise Rejected(child(at, "type"), f"{shown(declared)}, as the input says, or nothing", shown(own["type"]))
        schema = {**schema, **own}
    return Parameter(
        name=name,
        schema=schema,
        description=fields.text("description"),
        required=fields.flag("required", default=True),
        example=item.get("example", UNSET),
    )


def _agree(outer: Any, inner: Any) -> bool:
    """Whether the type *inner* says no more than *outer* allows; an integer is a number."""
    if inner is None:
        return True
    allowed = {outer} if isinstance(outer, str) else set(outer)
    if "number" in allowed:
        allowed.add("integer")
    return ({inner} if isinstance(inner, str) else set(inner)) <= allowed
