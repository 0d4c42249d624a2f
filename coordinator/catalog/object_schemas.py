"""JSON Schemas of whole calls and answers, taken apart into the members that they declare."""

from __future__ import annotations

from typing import Any

from coordinator.catalog.rejection import Rejected, child, shown
from coordinator.catalog.schemas import check_schema, embedded
from coordinator.catalog.skill import Parameter


def object_schema(schema: Any, pointer: str) -> dict[str, Any]:
    """*schema*, which stands at *pointer*, as the schema of a call's inputs; all that it says of them survives.

    Raises:
        Rejected: If it is no schema that can be used, or one of anything but an object.
    """
    check_schema(schema, pointer)
    if schema.get("type", "object") != "object":
        raise Rejected(child(pointer, "type"), '"object"', shown(schema["type"]))
    properties = schema.get("properties", {})
    return {**schema, "type": "object", "properties": properties}


def members(schema: dict[str, Any]) -> tuple[Parameter, ...]:
    """The members that the checked object *schema* declares, each with the definitions that it may refer to."""
    shared: dict[str, Any] = {name: schema[name] for name in ("$schema", "$defs", "definitions") if name in schema}
    required = schema.get("required", ())
    found = []
    for name, member in schema.get("properties", {}).items():
        declared = member if isinstance(member, dict) else {}
        description = declared.get("description")
        found.append(
            Parameter(
                name=name,
                schema=embedded(shared | declared, name) if shared else declared,
                description=description if isinstance(description, str) else "",
                required=name in required,
            )
        )
    return tuple(found)
