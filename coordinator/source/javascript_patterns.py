"""Giving a value to what stands on the left of an assignment: names, members, patterns."""

from __future__ import annotations

from tree_sitter import Node

from coordinator.source import javascript_nodes as nodes
from coordinator.source.expressions import MAX_DEPTH, Element, Expression, Items, Member, Scope
from coordinator.source.reader import Reader


def bind(reader: Reader[Node], target: Node, value: Expression, scope: Scope, depth: int = 0) -> None:
    """Give *value* to the names in *target*, a name, a member or a pattern of them."""
    if depth > MAX_DEPTH:
        return
    match target.type:
        case "identifier" | "shorthand_property_identifier_pattern":
            reader.bases.add(target.id)  # to be given a meaning is no use of the one it has
            scope.bind(nodes.source(target), value)
        case "member_expression":
            if (name := target.child_by_field_name("property")) is not None:
                reader.member(nodes.source(name), value)
        case "object_pattern":
            for part in target.named_children:
                _bind_member(reader, part, value, scope, depth)
        case "array_pattern":
            items = value.of if isinstance(value, Items) else ()
            for place, part in enumerate(target.named_children):
                bind(reader, part, items[place] if place < len(items) else Element(value), scope, depth + 1)
        case "assignment_pattern":
            left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
            if left is not None:
                bind(reader, left, value, scope, depth + 1)
                if right is not None:
                    bind(reader, left, reader.expression(right, scope), scope, depth + 1)


def _bind_member(reader: Reader[Node], part: Node, value: Expression, scope: Scope, depth: int) -> None:
    match part.type:
        case "shorthand_property_identifier_pattern":
            scope.bind(nodes.source(part), _taken(reader, part, Member(value, nodes.source(part)), scope))
        case "pair_pattern":
            key, inner = part.child_by_field_name("key"), part.child_by_field_name("value")
            if key is not None and inner is not None:
                bind(reader, inner, _taken(reader, part, Member(value, nodes.key(key)), scope), scope, depth + 1)
        case "object_assignment_pattern":
            left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
            if left is not None:
                scope.bind(nodes.source(left), _taken(reader, part, Member(value, nodes.source(left)), scope))
                if right is not None:
                    scope.bind(nodes.source(left), reader.expression(right, scope))
        case "rest_pattern":
            for inner in part.named_children:
                bind(reader, inner, value, scope, depth + 1)


def _taken(reader: Reader[Node], node: Node, member: Member, scope: Scope) -> Member:
    reader.site(member, nodes.line(node), scope)
    return member
