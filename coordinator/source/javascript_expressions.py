"""The expressions of JavaScript and TypeScript, made of the nodes of tree-sitter."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from coordinator.source import javascript_nodes as nodes
from coordinator.source.expressions import (
    UNKNOWN,
    Call,
    Either,
    Expression,
    Imported,
    Items,
    Joined,
    Member,
    Name,
    Scope,
    Text,
)

Inner = Callable[[Node | None], Expression]
TRANSPARENT = frozenset(
    {"parenthesized_expression", "await_expression", "as_expression", "non_null_expression", "satisfies_expression"}
)


def made(node: Node, inner: Inner, scope: Scope) -> Expression:
    """What *node* is in *scope*, its parts made by *inner*."""

    def field(name: str) -> Expression:
        return inner(node.child_by_field_name(name))

    kind = node.type
    if kind in TRANSPARENT:
        return inner(node.named_children[0]) if node.named_children else UNKNOWN
    match kind:
        case "identifier" | "shorthand_property_identifier":
            return Name(nodes.source(node), scope)
        case "this":
            return Name("this", scope)
        case "import":
            return Imported("import")
        case "meta_property":
            return Imported(nodes.source(node))
        case "string":
            return Text(nodes.text(node))
        case "template_string":
            parts = [Text(nodes.source(one)) if one.type == "string_fragment" else inner(nodes.first(one))
                     for one in node.named_children]  # fmt: skip
            return Joined(tuple(parts)) if parts else Text("")
        case "binary_expression":
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type == "+":
                return Joined((field("left"), field("right")))
            if operator is not None and operator.type in ("||", "??", "&&"):
                return Either((field("left"), field("right")))
            return UNKNOWN
        case "ternary_expression":
            return Either((field("consequence"), field("alternative")))
        case "member_expression":
            name = node.child_by_field_name("property")
            return Member(field("object"), nodes.source(name) if name is not None else "")
        case "subscript_expression":
            return Member(field("object"), index=field("index"))
        case "call_expression":
            return Call(field("function"), _arguments(node, inner))
        case "new_expression":
            return Call(field("constructor"), _arguments(node, inner))
        case "array":
            return Items(tuple(inner(one) for one in node.named_children))
        case "object":
            return Items(named=_members(node, scope, inner))
        case "assignment_expression":
            return field("right")
        case "sequence_expression":
            return inner(node.named_children[-1])
        case _:
            return UNKNOWN


def _arguments(node: Node, inner: Inner) -> tuple[Expression, ...]:
    given = node.child_by_field_name("arguments")
    if given is None:
        return ()
    if given.type == "template_string":  # a tagged template
        return (inner(given),)
    return tuple(inner(one) for one in given.named_children if one.type not in nodes.TYPES)


def _members(node: Node, scope: Scope, inner: Inner) -> dict[str, Expression]:
    found: dict[str, Expression] = {}
    for one in node.named_children:
        if one.type == "pair":
            key, value = one.child_by_field_name("key"), one.child_by_field_name("value")
            if key is not None and value is not None:
                found[nodes.key(key)] = inner(value)
        elif one.type == "shorthand_property_identifier":
            found[nodes.source(one)] = Name(nodes.source(one), scope)
    return found
