"""What a schema costs when every reference in it is written out.

A chain in which each definition uses the next twice doubles with each link. So does a recursion that is entered twice
for the same value, with each level of that value: a value 18 deep kept jsonschema-rs busy for 22 to 41 s. Hence one
recursive alternative at most in each place. Members and elements are different values: a tree may recurse in both of
its branches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from coordinator.catalog.rejection import Rejected, child, shown

MAX_SUBSCHEMAS = 5_000
MAX_REFERENCES = 200
# The keywords that apply schemas; of those APART no two apply to the same value.
APART = frozenset(
    {"properties", "additionalProperties", "unevaluatedProperties", "items", "prefixItems", "additionalItems"}
)
SCHEMA_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
SCHEMAS = APART - SCHEMA_MAPS | frozenset(
    {
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "unevaluatedItems",
        "contentSchema",
    }
)
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
ANCHORS = ("$anchor", "$dynamicAnchor")


def check_expansion(schema: dict[str, Any], pointer: str) -> None:
    """Refuse *schema*, which stands at *pointer*, if following its references could take without bound.

    Raises:
        Rejected: At a reference to anything outside the schema, at a second recursive alternative, at a schema of its
            own name inside (its references would start elsewhere), or where there is simply too much.
    """
    _Expansion(schema, pointer).check()


class _Expansion:
    """One walk over *root*, which stands at *pointer*."""

    def __init__(self, root: dict[str, Any], pointer: str) -> None:
        self.root, self.pointer = root, pointer
        self.known: dict[int, tuple[int, bool] | None] = {}
        self.anchors: dict[str, Any] = {}

    def check(self) -> None:
        self._collect(self.root, self.pointer)
        cost, _ = self._cost(self.root, self.pointer, MAX_REFERENCES)
        if cost > MAX_SUBSCHEMAS:
            raise Rejected(
                self.pointer, f"a schema of at most {MAX_SUBSCHEMAS:,} subschemas, references followed", "more"
            )

    def _collect(self, node: Any, pointer: str) -> None:
        if isinstance(node, dict):
            for name in ("$id", "id") if node is not self.root else ():
                # Draft 4 spells it "id"; a draft of its own below the root would let one in unseen.
                if isinstance(node.get(name), str) and (name == "$id" or "draft-04" in str(self.root.get("$schema"))):
                    raise Rejected(child(pointer, name), "no schema of its own name inside another", shown(node[name]))
            if node is not self.root and isinstance(node.get("$schema"), str):
                raise Rejected(child(pointer, "$schema"), "one dialect for the whole schema", shown(node["$schema"]))
            for name in ANCHORS:
                if isinstance(anchor := node.get(name), str):
                    if f"#{anchor}" in self.anchors:
                        raise Rejected(child(pointer, name), "each anchor once", shown(anchor))
                    self.anchors[f"#{anchor}"] = node
        for step, value in enumerate(node) if isinstance(node, list) else node.items():
            if isinstance(value, dict | list):
                self._collect(value, child(pointer, step))

    def _cost(self, node: Any, pointer: str, links: int) -> tuple[int, bool]:
        """How many subschemas *node* expands to, and whether it leads into a recursion."""
        if not isinstance(node, dict):
            return 1, False
        if id(node) in self.known:
            return self.known[id(node)] or (1, True)
        if links == 0:
            raise Rejected(pointer, f"at most {MAX_REFERENCES} references and levels in a row", "more")
        self.known[id(node)] = None  # being counted: whoever meets it again has closed a circle
        total, entries, apart = 1, 0, False
        for keyword, target, at in self._used(node, pointer):
            cost, recursive = self._cost(target, at, links - 1)
            total += cost
            if recursive and keyword in APART:
                apart = True
            elif recursive:
                entries += 1
        if entries + apart > 1:
            raise Rejected(pointer, "at most one recursive alternative in a schema", str(entries + apart))
        result = self.known[id(node)] = min(total, MAX_SUBSCHEMAS + 1), bool(entries or apart)
        return result

    def _used(self, node: dict[str, Any], pointer: str) -> Iterator[tuple[str, Any, str]]:
        for keyword, value in node.items():
            at = child(pointer, keyword)
            if keyword in REFERENCES and isinstance(value, str):
                yield keyword, self._target(value, at), at
            elif keyword in SCHEMA_MAPS and isinstance(value, dict):
                yield from ((keyword, item, child(at, name)) for name, item in value.items())
            elif keyword in SCHEMAS and isinstance(value, list):
                yield from ((keyword, item, child(at, index)) for index, item in enumerate(value))
            elif keyword in SCHEMAS:
                yield keyword, value, at

    def _target(self, reference: str, pointer: str) -> Any:
        if not reference.startswith("#"):
            raise Rejected(pointer, 'a reference inside the schema ("#/...")', shown(reference))
        if reference in self.anchors:
            return self.anchors[reference]
        target: Any = self.root
        for step in unquote(reference[1:]).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list):
                target = target[int(name)] if name.isdecimal() and len(name) < 7 and int(name) < len(target) else None
            else:
                target = target.get(name) if isinstance(target, dict) else None
        return target
