"""The type names that manifests use, as JSON Schema."""

from __future__ import annotations

from typing import Any

from coordinator.catalog.rejection import Rejected, near, shown

MAX_ARRAY_SUFFIXES = 4
TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
ALIASES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "str": {"type": "string"},
    "markdown": {"type": "string"},
    "html": {"type": "string"},
    "code": {"type": "string"},
    "char": {"type": "string"},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "date-time": {"type": "string", "format": "date-time"},
    "email": {"type": "string", "format": "email"},
    "url": {"type": "string", "format": "uri"},
    "uri": {"type": "string", "format": "uri"},
    "uuid": {"type": "string", "format": "uuid"},
    "int": {"type": "integer"},
    "long": {"type": "integer"},
    "float": {"type": "number"},
    "double": {"type": "number"},
    "decimal": {"type": "number"},
    "num": {"type": "number"},
    "bool": {"type": "boolean"},
    "list": {"type": "array"},
    "tuple": {"type": "array"},
    "dict": {"type": "object"},
    "map": {"type": "object"},
    "any": {},
    "json": {},
}


def is_type(name: str) -> bool:
    """Whether *name* is the name of a type, ``string[]`` being one."""
    return _schema(name) is not None


def type_schema(declared: Any, pointer: str) -> dict[str, Any]:
    """The schema of the *declared* type: a name, a name with ``[]``, or a list of JSON Schema's own names.

    Raises:
        Rejected: If there is no such type.
    """
    if isinstance(declared, str):
        schema = _schema(declared)
        if schema is None:
            hint = near(declared, (*TYPES, *ALIASES))
            raise Rejected(pointer, f"one of {', '.join(TYPES)}, any", shown(declared) + hint)
        return schema
    if isinstance(declared, list) and declared and all(isinstance(name, str) and name in TYPES for name in declared):
        return {"type": list(dict.fromkeys(declared))}
    raise Rejected(pointer, f"one of {', '.join(TYPES)}, any, or a list of them", shown(declared))


def _schema(name: str) -> dict[str, Any] | None:
    name = name.strip().lower()
    for _ in range(MAX_ARRAY_SUFFIXES):
        if not name.endswith("[]"):
            break
        items = _schema(name[:-2])
        return None if items is None else {"type": "array", "items": items}
    if name in TYPES:
        return {"type": name}
    alias = ALIASES.get(name)
    return None if alias is None else dict(alias)
