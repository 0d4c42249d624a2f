"""JavaScript and TypeScript source as a `Program`, by tree-sitter: parsed, never run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from coordinator.source.expressions import (
    MAX_DEPTH,
    UNKNOWN,
    Call,
    Either,
    Element,
    Expression,
    Function,
    Imported,
    Items,
    Joined,
    Member,
    Name,
    Parameter,
    Program,
    Scope,
    Site,
    Text,
)
from coordinator.source.facts import Import, folded, module_name

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
WORD_CHARS = 100
# app.post("/x", (request, answer) => ...), server.tool("x", ..., ({url}) => ...): called with what a caller sends.
HANDLING = re.compile(r"get|post|put|patch|delete|all|route|use|tool|registerTool|resource|prompt|setRequestHandler")
FUNCTIONS = frozenset(
    {
        "function_declaration", "function_expression", "arrow_function", "method_definition",
        "generator_function_declaration", "generator_function",
    }
)  # fmt: skip
TYPES = frozenset(
    {
        "type_annotation", "type_alias_declaration", "interface_declaration", "type_arguments", "type_parameters",
        "comment", "ambient_declaration", "hash_bang_line",
    }
)  # fmt: skip
TRANSPARENT = frozenset(
    {"parenthesized_expression", "await_expression", "as_expression", "non_null_expression", "satisfies_expression"}
)


ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\u\{([0-9a-fA-F]{1,6})\}")
ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", "\\'": "'", '\\"': '"', "\\/": "/"}


class Broken(Exception):
    """What was read is no JavaScript or TypeScript: more of it is in error than is understood."""


def program(data: bytes, suffix: str) -> Program:
    """The program in *data*, a file that ends with *suffix*.

    Raises:
        UnicodeDecodeError: If it is no UTF-8.
        Broken: If it is no program.
    """
    data.decode()
    tree = Parser(_language(suffix)).parse(data)
    if tree.root_node.has_error and _in_error(tree.root_node) * 2 > len(data):
        raise Broken("no JavaScript or TypeScript")
    return _Reader(tree.root_node).program


@cache
def _language(suffix: str) -> Language:
    if suffix == ".tsx":
        return Language(tree_sitter_typescript.language_tsx())
    if suffix in (".ts", ".mts", ".cts"):
        return Language(tree_sitter_typescript.language_typescript())
    return Language(tree_sitter_javascript.language())


def _in_error(root: Node) -> int:
    if root.is_error:
        return root.end_byte - root.start_byte
    return sum(one.end_byte - one.start_byte for one in root.children if one.is_error)


class _Reader:
    def __init__(self, root: Node) -> None:
        self.program = Program()
        self._functions: dict[int, Function] = {}
        self._bases: set[int] = set()  # what only leads to a member: ``fs`` of ``fs.readFile``
        self._waiting: list[tuple[Node, Scope, bool]] = [(root, Scope(), False)]
        while self._waiting:
            node, scope, optional = self._waiting.pop()
            self._visit(node, scope, optional)

    def _visit(self, node: Node, scope: Scope, optional: bool) -> None:
        kind = node.type
        if kind in TYPES:
            return
        if kind in FUNCTIONS:
            if node.id not in self._functions:
                self._function(node, scope)
            return
        if kind == "import_statement":
            self._import(node, scope)
            return
        if kind == "export_statement" and (source := node.child_by_field_name("source")) is not None:
            self.program.imports.append(Import(_text(source), _line(node)))
        elif kind == "try_statement":
            optional = True
        elif kind in ("class_declaration", "class"):
            if (name := node.child_by_field_name("name")) is not None:
                scope.bind(_source(name), UNKNOWN)
            scope = Scope(scope, is_class=True)
        else:
            self._bindings(node, scope)
        self._site(node, scope, optional)
        self._later(node.named_children, scope, optional)

    def _later(self, nodes: Iterable[Node], scope: Scope, optional: bool) -> None:
        self._waiting.extend((node, scope, optional) for node in reversed(list(nodes)))

    def _site(self, node: Node, scope: Scope, optional: bool) -> None:
        match node.type:
            case "call_expression" | "new_expression":
                made = _expression(node, scope)
                self.program.sites.append(Site(made, _line(node), scope))
                self._loaded(made, _line(node), optional)
            case "member_expression" | "subscript_expression" | "identifier" | "shorthand_property_identifier":
                self._word(_source(node) if "identifier" in node.type else "")
                if (base := node.child_by_field_name("object")) is not None:
                    self._bases.add(base.id)
                if node.id in self._bases:
                    return
                self.program.sites.append(Site(_expression(node, scope), _line(node), scope))
            case "property_identifier" | "shorthand_property_identifier_pattern":
                self._word(_source(node))
            case "string":
                self._word(_text(node))

    def _loaded(self, call: Expression, line: int, optional: bool) -> None:
        match call:
            case Call(of=Name(name="require", scope=scope), arguments=(Text(text=module), *_)):
                if scope.meanings("require") is None:
                    self.program.imports.append(Import(module, line, optional))
            case Call(of=Imported(name="import"), arguments=(Text(text=module), *_)):
                self.program.imports.append(Import(module, line, optional))

    def _word(self, text: str) -> None:
        if text and len(text) <= WORD_CHARS:
            self.program.words.add(folded(text))

    def _import(self, node: Node, scope: Scope) -> None:
        source = node.child_by_field_name("source")
        if source is None or any(one.type == "type" for one in node.children):
            return
        module = _text(source)
        self.program.imports.append(Import(module, _line(node)))
        name = module_name(module)
        for clause in node.named_children:
            if clause.type != "import_clause":
                continue
            for part in clause.named_children:
                if part.type == "identifier":
                    scope.bind(_source(part), Imported(name))
                elif part.type == "namespace_import":
                    scope.bind(_source(part.named_children[-1]), Imported(name))
                elif part.type == "named_imports":
                    for one in part.named_children:
                        self._specifier(one, name, scope)

    def _specifier(self, one: Node, module: str, scope: Scope) -> None:
        name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
        if name is not None:
            member = "" if _source(name) == "default" else f".{_source(name)}"
            scope.bind(_source(alias or name), Imported(module + member))

    def _function(self, node: Node, scope: Scope, *, handles: bool = False) -> Function:
        single = node.child_by_field_name("parameter")
        listed = node.child_by_field_name("parameters")
        given = [single] if single is not None else [] if listed is None else listed.named_children
        given = [one for one in given if one.type not in TYPES]
        patterns = [one.child_by_field_name("pattern") or one for one in given]
        names = tuple(_source(_plain(one)) for one in patterns)
        function = Function(_line(node), names, handles=handles)
        self._functions[node.id] = function
        inner = Scope(scope, function=function)
        for pattern, name in zip(patterns, names, strict=True):
            if pattern.type == "identifier":
                self._word(name)
                inner.bind(name, Parameter(function, name))
            else:
                default = pattern.child_by_field_name("right")
                value: Expression = Parameter(function, name)
                if default is not None:
                    function.defaults[name] = _expression(default, scope)
                self._bind(_plain(pattern), value, inner)
        called = node.child_by_field_name("name")
        if called is not None:
            self._word(_source(called))
            if node.type == "method_definition":
                self.program.attributes.setdefault(_source(called), []).append(function)
            else:
                scope.bind(_source(called), function)
        self._later([one for one in patterns if one.type != "identifier"], inner, False)
        if (body := node.child_by_field_name("body")) is not None:
            self._later((body,), inner, False)
        return function

    def _bindings(self, node: Node, scope: Scope) -> None:
        match node.type:
            case "call_expression":
                called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
                name = called.child_by_field_name("property") if called is not None else None
                if name is not None and given is not None and HANDLING.fullmatch(_source(name)):
                    for one in given.named_children:
                        if one.type in FUNCTIONS:
                            self._function(one, scope, handles=True)
            case "variable_declarator":
                target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
                if target is not None and value is not None:
                    self._bind(target, self._value(value, scope), scope)
                elif target is not None and target.type == "identifier":
                    scope.names.setdefault(_source(target), [])
            case "assignment_expression":
                target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
                if target is not None and value is not None:
                    self._bind(target, self._value(value, scope), self._home(target, scope))
            case "augmented_assignment_expression":
                target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
                if target is not None and value is not None:
                    both = Joined((_expression(target, scope), _expression(value, scope)))
                    self._bind(target, both, self._home(target, scope))
            case "for_in_statement":
                target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
                if target is not None and value is not None:
                    self._bind(target, Element(_expression(value, scope)), scope)
            case "catch_clause":
                if (name := node.child_by_field_name("parameter")) is not None:
                    self._bind(name, UNKNOWN, scope)
            case "public_field_definition" | "field_definition":
                name = node.child_by_field_name("name") or node.child_by_field_name("property")
                value = node.child_by_field_name("value")
                if name is not None and value is not None:
                    self.program.attributes.setdefault(_source(name), []).append(self._value(value, scope))

    def _home(self, target: Node, scope: Scope) -> Scope:
        """The scope in which *target*, which is given a value in *scope*, was declared."""
        home: Scope | None = scope
        while home is not None and target.type == "identifier":
            if _source(target) in home.names:
                return home
            home = home.parent
        return scope

    def _value(self, node: Node, scope: Scope) -> Expression:
        if node.type not in FUNCTIONS:
            return _expression(node, scope)
        # The function is read now, so that the name it is given and its parameters are of one object.
        return self._functions.get(node.id) or self._function(node, scope)

    def _bind(self, target: Node, value: Expression, scope: Scope, depth: int = 0) -> None:
        if depth > MAX_DEPTH:
            return
        match target.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                self._bases.add(target.id)  # to be given a meaning is no use of the one it has
                scope.bind(_source(target), value)
            case "member_expression":
                if (name := target.child_by_field_name("property")) is not None:
                    self.program.attributes.setdefault(_source(name), []).append(value)
            case "object_pattern":
                for part in target.named_children:
                    self._bind_member(part, value, scope, depth)
            case "array_pattern":
                items = value.of if isinstance(value, Items) else ()
                for place, part in enumerate(target.named_children):
                    self._bind(part, items[place] if place < len(items) else Element(value), scope, depth + 1)
            case "assignment_pattern":
                left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
                if left is not None:
                    self._bind(left, value, scope, depth + 1)
                    if right is not None:
                        self._bind(left, _expression(right, scope), scope, depth + 1)

    def _bind_member(self, part: Node, value: Expression, scope: Scope, depth: int) -> None:
        match part.type:
            case "shorthand_property_identifier_pattern":
                scope.bind(_source(part), self._taken(part, Member(value, _source(part)), scope))
            case "pair_pattern":
                key, inner = part.child_by_field_name("key"), part.child_by_field_name("value")
                if key is not None and inner is not None:
                    self._bind(inner, self._taken(part, Member(value, _key(key)), scope), scope, depth + 1)
            case "object_assignment_pattern":
                left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
                if left is not None:
                    scope.bind(_source(left), self._taken(part, Member(value, _source(left)), scope))
                    if right is not None:
                        scope.bind(_source(left), _expression(right, scope))
            case "rest_pattern":
                for inner in part.named_children:
                    self._bind(inner, value, scope, depth + 1)

    def _taken(self, node: Node, member: Member, scope: Scope) -> Member:
        self.program.sites.append(Site(member, _line(node), scope))
        return member


def _expression(node: Node | None, scope: Scope, depth: int = 0) -> Expression:
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN

    def inner(part: Node | None) -> Expression:
        return _expression(part, scope, depth + 1)

    def field(name: str) -> Expression:
        return inner(node.child_by_field_name(name))

    kind = node.type
    if kind in TRANSPARENT:
        return inner(node.named_children[0]) if node.named_children else UNKNOWN
    match kind:
        case "identifier" | "shorthand_property_identifier":
            return Name(_source(node), scope)
        case "this":
            return Name("this", scope)
        case "import":
            return Imported("import")
        case "meta_property":
            return Imported(_source(node))
        case "string":
            return Text(_text(node))
        case "template_string":
            parts = [Text(_source(one)) if one.type == "string_fragment" else inner(_first(one))
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
            return Member(field("object"), _source(name) if name is not None else "")
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


def _arguments(node: Node, inner: Callable[[Node], Expression]) -> tuple[Expression, ...]:
    given = node.child_by_field_name("arguments")
    if given is None:
        return ()
    if given.type == "template_string":  # a tagged template
        return (inner(given),)
    return tuple(inner(one) for one in given.named_children if one.type not in TYPES)


def _members(node: Node, scope: Scope, inner: Callable[[Node], Expression]) -> dict[str, Expression]:
    found: dict[str, Expression] = {}
    for one in node.named_children:
        if one.type == "pair":
            key, value = one.child_by_field_name("key"), one.child_by_field_name("value")
            if key is not None and value is not None:
                found[_key(key)] = inner(value)
        elif one.type == "shorthand_property_identifier":
            found[_source(one)] = Name(_source(one), scope)
    return found


def _key(node: Node) -> str:
    if node.type == "string":
        return _text(node)
    if node.type == "computed_property_name" and (inner := _first(node)) is not None and inner.type == "string":
        return _text(inner)
    return _source(node)


def _first(node: Node) -> Node | None:
    return node.named_children[0] if node.named_children else None


def _plain(pattern: Node) -> Node:
    """The name or pattern in *pattern*, without its default or its dots."""
    if pattern.type == "assignment_pattern":
        return pattern.child_by_field_name("left") or pattern
    if pattern.type == "rest_pattern" and pattern.named_children:
        return pattern.named_children[0]
    return pattern


def _source(node: Node) -> str:
    return (node.text or b"").decode()


def _text(node: Node) -> str:
    """The text of a string; of its escapes, those that hide a name (``\\x65``, ``\\u0065``) are read."""
    parts = []
    for one in node.named_children:
        source = _source(one)
        if one.type == "escape_sequence":
            code = ESCAPE.fullmatch(source)
            source = chr(min(int(code[1] or code[2] or code[3], 16), 0x10FFFF)) if code else ESCAPES.get(source, "")
        parts.append(source)
    return "".join(parts)


def _line(node: Node) -> int:
    return int(node.start_point.row) + 1
