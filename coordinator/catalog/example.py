"""One valid call for a skill, made from what its manifest says; the same manifest gives the same call.

An optional input is left out unless the manifest gives a value for it: a guess could turn a valid call into another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from coordinator.catalog import described
from coordinator.catalog.guesses import TEXT, TEXTS, number, text
from coordinator.catalog.schemas import problems
from coordinator.catalog.skill import Parameter

MAX_LEVELS = 8
MAX_VALUES = 1_000
MAX_ITEMS = 100


def example(inputs: Iterable[Parameter]) -> dict[str, Any]:
    """Values for every required input, and for those optional ones for which the manifest gives one."""
    made: dict[str, Any] = {}
    for parameter in inputs:
        if not parameter.name:
            continue
        if parameter.example is not UNSET:
            made[parameter.name] = parameter.example
        elif parameter.required or declared_values(parameter.schema):
            made[parameter.name] = value(parameter.name, {"description": parameter.description, **parameter.schema})
    return made


def is_guessed(inputs: Iterable[Parameter]) -> bool:
    """Whether the `example` of *inputs* holds a value that the manifest does not give: the skill may well refuse it.

    Either value of a boolean is given with its type.
    """
    return any(
        parameter.required
        and parameter.example is UNSET
        and not declared_values(parameter.schema)
        and _kind(parameter.schema) not in ("boolean", "null")
        for parameter in inputs
    )


def value(name: str, schema: dict[str, Any]) -> Any:
    """A value for the member *name*, valid by the checked *schema* wherever a simple one is."""
    first = _Maker(schema).value(name, schema, MAX_LEVELS)
    if not isinstance(first, str):
        return first
    problem_of = problems(schema)
    return next((guess for guess in (first, *TEXTS) if problem_of(guess) is None), first)


class _Maker:
    """Makes one value by the schema *root*, of at most `MAX_VALUES` parts."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.left = MAX_VALUES

    def value(self, name: str, schema: Any, levels: int) -> Any:
        self.left -= 1
        if levels == 0 or self.left < 0:
            return None
        if not isinstance(schema, dict):
            return TEXT
        if declared := declared_values(schema):
            return declared[0]
        if (simpler := self._simpler(schema)) is not None:
            return self.value(name, simpler, levels - 1)
        match _kind(schema):
            case "integer" | "number" as kind:
                return number(schema, whole=kind == "integer")
            case "boolean":
                return True
            case "null":
                return None
            case "array":
                return self._array(name, schema, levels)
            case "object":
                members = schema.get("properties") or {}
                required = schema.get("required") or ()
                return {member: self.value(member, members.get(member, {}), levels - 1) for member in required}
            case _:
                return self._text(name, schema)

    def _text(self, name: str, schema: dict[str, Any]) -> str:
        description = schema.get("description")
        told = described.values(description) if isinstance(description, str) else ()
        problem_of = problems(schema)
        return next((one for one in told if problem_of(one) is None), None) or text(name, schema)

    def _simpler(self, schema: dict[str, Any]) -> dict[str, Any] | None:
        """*schema* with its first alternative, its parts or its reference written out; None if it has none."""
        for keyword in ("anyOf", "oneOf", "allOf", "$ref"):
            if keyword not in schema:
                continue
            if keyword == "$ref":
                branches = [_target(str(schema[keyword]), self.root)]
            else:
                branches = [branch for branch in schema[keyword] if isinstance(branch, dict)]
                if keyword != "allOf":
                    branches = [branch for branch in branches if branch.get("type") != "null"][:1]
            simpler = {key: item for key, item in schema.items() if key != keyword}
            for branch in branches:
                simpler |= branch
            return simpler
        return None

    def _array(self, name: str, schema: dict[str, Any], levels: int) -> list[Any]:
        if schema.get("maxItems") == 0:
            return []
        made = [self.value(name, item, levels - 1) for item in schema.get("prefixItems") or ()]
        items = schema.get("items", {})
        least = int(min(schema.get("minItems", 0), MAX_ITEMS))
        if not made and items is not False:
            least = max(least, 1)
        member = name[:-1] if name.endswith("s") else name
        made += [self.value(member, items, levels - 1) for _ in range(least - len(made))]
        return [_distinct(item, index) for index, item in enumerate(made)] if schema.get("uniqueItems") else made


def declared_values(schema: dict[str, Any]) -> list[Any]:
    """The values that *schema* itself names, the likeliest first."""
    values = [schema[keyword] for keyword in ("default", "const") if keyword in schema]
    for keyword in ("examples", "enum"):
        if isinstance(schema.get(keyword), list):
            values += schema[keyword][:1]
    return values


def _kind(schema: dict[str, Any]) -> str | None:
    declared = schema.get("type")
    if isinstance(declared, list):
        return next((kind for kind in declared if kind != "null"), "null")
    if isinstance(declared, str):
        return declared
    return "object" if "properties" in schema else "array" if "items" in schema else None


def _distinct(item: Any, index: int) -> Any:
    if index == 0 or isinstance(item, bool):
        return item
    if isinstance(item, str):
        return f"{item} {index}"
    return item + index if isinstance(item, int | float) else item


def _target(reference: str, root: dict[str, Any]) -> Any:
    target: Any = root
    for step in reference.lstrip("#").split("/")[1:]:
        target = target.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(target, dict) else {}
    return target
