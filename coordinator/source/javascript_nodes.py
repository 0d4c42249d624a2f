"""What the nodes of tree-sitter say: names, texts, lines."""

from __future__ import annotations

import re

from tree_sitter import Node

TYPES = frozenset(
    {
        "type_annotation", "type_alias_declaration", "interface_declaration", "type_arguments", "type_parameters",
        "comment", "ambient_declaration", "hash_bang_line",
    }
)  # fmt: skip
ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\u\{([0-9a-fA-F]{1,6})\}")
ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", "\\'": "'", '\\"': '"', "\\/": "/"}


def key(node: Node) -> str:
    """The name of a member, which may be written as a text or in brackets."""
    if node.type == "string":
        return text(node)
    if node.type == "computed_property_name" and (inner := first(node)) is not None and inner.type == "string":
        return text(inner)
    return source(node)


def first(node: Node) -> Node | None:
    """The first named child of *node*."""
    return node.named_children[0] if node.named_children else None


def plain(pattern: Node) -> Node:
    """The name or pattern in *pattern*, without its default or its dots."""
    if pattern.type == "assignment_pattern":
        return pattern.child_by_field_name("left") or pattern
    if pattern.type == "rest_pattern" and pattern.named_children:
        return pattern.named_children[0]
    return pattern


def source(node: Node) -> str:
    """*node* as written."""
    return (node.text or b"").decode()


def text(node: Node) -> str:
    """The text of a string; of its escapes, those that hide a name (``\\x65``, ``\\u0065``) are read."""
    parts = []
    for one in node.named_children:
        part = source(one)
        if one.type == "escape_sequence":
            code = ESCAPE.fullmatch(part)
            part = chr(min(int(code[1] or code[2] or code[3], 16), 0x10FFFF)) if code else ESCAPES.get(part, "")
        parts.append(part)
    return "".join(parts)


def line(node: Node) -> int:
    """The line on which *node* begins."""
    return int(node.start_point.row) + 1
