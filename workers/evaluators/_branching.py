"""How often a JSON Schema may look at one place of an instance, at worst.

Forty definitions, each ``allOf`` of the one before it twice, are 2 KB and 2^40 checks; a recursive ``anyOf`` does the
same to a deeply nested answer. The validator always runs to its end, so the price is counted beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

DEPTH = 100
VISITS = 100_000
ENDLESS = 1_000_000_000
_UNKNOWN_REF = 1_000  # the meta-schemas, the only references that the validator resolves outside the document

Node = dict[str, Any]


class Tangled(Exception):
    """The schema is too branched, too deep, or refers in a way that cannot be followed."""


def visits(schema: Any) -> tuple[int, ...]:
    """The most checks that *schema* may make at one place of an instance nested 0, 1, 2... levels deep.

    Ends early where more depth costs no more (the last figure then holds for all), or reaches `ENDLESS`.

    Raises:
        Tangled: If even an instance without any nesting may cost more than `VISITS`.
    """
    if not isinstance(schema, dict):
        return (1,)
    try:
        costs = list(_levels(schema))
    except RecursionError as error:
        raise Tangled("it nests too deep") from error
    if costs[0] > VISITS:
        raise Tangled(f"it makes more than {VISITS} checks for a single value")
    return tuple(costs)


def _levels(root: Node) -> Iterator[int]:
    links = _Links(root)
    below: dict[int, int] = {}
    for _ in range(DEPTH + 1):
        level: dict[int, int] = {}
        yield _cost(root, links, level, below)
        for node in links.below:  # grows while it is walked: all that is reached at any depth
            _cost(node, links, level, below)
        if level == below or level[id(root)] == ENDLESS:
            return
        below = level


def _cost(node: Node, links: _Links, level: dict[int, int], below: dict[int, int]) -> int:
    known = level.get(id(node))
    if known is not None:
        return known
    level[id(node)] = 0  # a reference that comes back to itself in the same place: the validator stops there too
    in_place, members, patterns, others, contains = links.of(node)
    cost = links.own(node) + sum(_cost(child, links, level, below) for child in in_place)
    if "unevaluatedProperties" in node or "unevaluatedItems" in node:
        cost *= 2

    def deeper(children: list[Node]) -> list[int]:
        return [below.get(id(child), 0) for child in children]

    named = max(deeper(members), default=0) + sum(deeper(patterns))
    cost += max([named, *deeper(others)]) + sum(deeper(contains))
    level[id(node)] = cost = min(cost, ENDLESS)
    return cost


class _Links:
    """The subschemas of each node, sorted by what they look at; every node that is reached one level down."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.below: list[Node] = []
        self._of: dict[int, tuple[list[Node], ...]] = {}

    def of(self, node: Node) -> tuple[list[Node], ...]:
        """The children in place, in named members, in pattern members, in other members or items, in ``contains``."""
        links = self._of.get(id(node))
        if links is None:
            if node is not self.root and isinstance(node.get("$id"), str):
                raise Tangled("it has an $id below its root, which moves its references")
            links = self._of[id(node)] = self._sorted(node)
            for children in links[1:]:
                self.below.extend(child for child in children if id(child) not in self._of)
        return links

    @staticmethod
    def own(node: Node) -> int:
        """The checks of *node* itself."""
        return len(node) + sum(len(value) for value in node.values() if isinstance(value, list))

    def _sorted(self, node: Node) -> tuple[list[Node], ...]:
        in_place = [
            *_nodes(*(node.get(name) for name in ("allOf", "anyOf", "oneOf", "not", "if", "then", "else"))),
            *_nodes(*(_values(node.get(name)) for name in ("dependentSchemas", "dependencies"))),
            *self._referred(node),
        ]
        members = [*_nodes(_values(node.get("properties"))), *_nodes(node.get("prefixItems"))]
        if isinstance(node.get("items"), list):
            members += _nodes(node["items"])
        patterns = _nodes(_values(node.get("patternProperties")))
        names = ("additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems")
        others = _nodes(*(node.get(name) for name in names))
        if isinstance(node.get("items"), dict):
            others.append(node["items"])
        return in_place, members, patterns, others, _nodes(node.get("contains"), node.get("propertyNames"))

    def _referred(self, node: Node) -> Iterator[Node]:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = node.get(keyword)
            if not isinstance(reference, str):
                continue
            _, _, fragment = reference.partition("#")
            if reference.startswith("#") and (not fragment or fragment.startswith("/")):
                yield from _nodes(self._pointed(fragment))
            elif reference.startswith("#"):
                yield from _anchored(self.root, fragment)
            else:
                yield {"enum": [None] * _UNKNOWN_REF}

    def _pointed(self, pointer: str) -> Any:
        found: Any = self.root
        for token in pointer.split("/")[1:]:
            name = unquote(token).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = found.get(name)
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                return None
        return found


def _values(mapping: Any) -> list[Any]:
    return list(mapping.values()) if isinstance(mapping, dict) else []


def _nodes(*places: Any) -> list[Node]:
    nodes: list[Node] = []
    for place in places:
        nodes.extend(item for item in (place if isinstance(place, list) else [place]) if isinstance(item, dict))
    return nodes


def _anchored(root: Node, name: str) -> Iterator[Node]:
    pending: list[Any] = [root]
    while pending:
        found = pending.pop()
        if isinstance(found, dict):
            if name in (found.get("$anchor"), found.get("$dynamicAnchor")):
                yield found
            pending.extend(found.values())
        elif isinstance(found, list):
            pending.extend(found)
