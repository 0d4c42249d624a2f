"""Unusual values inside a declared object or list: one place of the usual value changed, the rest as it is. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from coordinator.edge_values import Schema, Values, beyond, bounds, plain, undeclared, wrong_type

LEVELS = 4
PARTS = 20
OF_ONE_MAKER = 2


def nested(schema: Schema, usual: Any, levels: int = LEVELS) -> Values:
    """*usual*, an object or a list, with one place changed: a member left out, of the wrong type, at its limit."""
    if levels == 0:
        return
    if isinstance(usual, dict):
        required = schema.get("required")
        for name in islice(required if isinstance(required, list) else (), PARTS):
            if name in usual:
                yield f"without its member {name!r}", {key: value for key, value in usual.items() if key != name}
    for where, part, value, rebuilt in islice(_parts(schema, usual), PARTS):
        for maker in (wrong_type, beyond, undeclared, bounds):
            for about, changed in islice(maker(part, value), OF_ONE_MAKER):
                yield f"in {where}, {about}", rebuilt(changed)
        for about, changed in nested(part, value, levels - 1):
            yield f"in {where}, {about}", rebuilt(changed)


def _parts(schema: Schema, usual: Any) -> Iterator[tuple[str, Schema, Any, Callable[[Any], Any]]]:
    """The members of an object, or the first item of a list: where, its schema, its value, and how to put another."""
    shared: Schema = {name: schema[name] for name in ("$defs", "definitions") if name in schema}
    members = schema.get("properties")
    if isinstance(usual, dict) and isinstance(members, dict):
        for name, member in members.items():
            if name in usual and isinstance(member, dict):
                yield f"its member {name!r}", plain({**shared, **member}), usual[name], _member(usual, name)
    items = schema.get("items")
    if isinstance(usual, list) and usual and isinstance(items, dict):
        yield "its first item", plain({**shared, **items}), usual[0], lambda value: [value, *usual[1:]]


def _member(usual: dict[str, Any], name: str) -> Callable[[Any], Any]:
    return lambda value: {**usual, name: value}
