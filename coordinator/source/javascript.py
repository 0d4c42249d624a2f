"""JavaScript and TypeScript source as a `Program`, by tree-sitter: parsed, never run."""

from __future__ import annotations

import re
from functools import cache

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from coordinator.source import javascript_nodes as nodes
from coordinator.source.expressions import (
    UNKNOWN,
    Call,
    Element,
    Expression,
    Function,
    Imported,
    Joined,
    Name,
    Parameter,
    Program,
    Scope,
    Text,
)
from coordinator.source.facts import Import, module_name
from coordinator.source.javascript_expressions import made
from coordinator.source.javascript_patterns import bind
from coordinator.source.reader import Reader

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
# app.post("/x", (request, answer) => ...), server.tool("x", ..., ({url}) => ...): called with what a caller sends.
HANDLING = re.compile(r"get|post|put|patch|delete|all|route|use|tool|registerTool|resource|prompt|setRequestHandler")
FUNCTIONS = frozenset(
    {
        "function_declaration", "function_expression", "arrow_function", "method_definition",
        "generator_function_declaration", "generator_function",
    }
)  # fmt: skip


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


class _Reader(Reader[Node]):
    def __init__(self, root: Node) -> None:
        self._functions: dict[int, Function] = {}
        super().__init__(root)

    def identity(self, node: Node) -> int:
        return int(node.id)

    def make(self, node: Node, scope: Scope, depth: int) -> Expression:
        return made(node, lambda part: self.expression(part, scope, depth + 1), scope)

    def visit(self, node: Node, scope: Scope, optional: bool) -> None:
        kind = node.type
        if kind in nodes.TYPES:
            return
        if kind in FUNCTIONS:
            if node.id not in self._functions:
                self._function(node, scope)
            return
        if kind == "import_statement":
            self._import(node, scope)
            return
        if kind == "export_statement" and (source := node.child_by_field_name("source")) is not None:
            self.program.imports.append(Import(nodes.text(source), nodes.line(node)))
        elif kind == "try_statement":
            optional = True
        elif kind in ("class_declaration", "class"):
            if (name := node.child_by_field_name("name")) is not None:
                scope.bind(nodes.source(name), UNKNOWN)
            scope = Scope(scope, is_class=True)
        else:
            self._bindings(node, scope)
        self._site(node, scope, optional)
        self.later(node.named_children, scope, optional)

    def _site(self, node: Node, scope: Scope, optional: bool) -> None:
        match node.type:
            case "call_expression" | "new_expression":
                found = self.expression(node, scope)
                self.site(found, nodes.line(node), scope)
                self._loaded(found, nodes.line(node), optional)
            case "member_expression" | "subscript_expression" | "identifier" | "shorthand_property_identifier":
                self.word(nodes.source(node) if "identifier" in node.type else "")
                if (base := node.child_by_field_name("object")) is not None:
                    self.bases.add(base.id)
                if node.id in self.bases:
                    return
                self.site(self.expression(node, scope), nodes.line(node), scope)
            case "property_identifier" | "shorthand_property_identifier_pattern":
                self.word(nodes.source(node))
            case "string":
                self.word(nodes.text(node))

    def _loaded(self, call: Expression, line: int, optional: bool) -> None:
        match call:
            case Call(of=Name(name="require", scope=scope), arguments=(Text(text=module), *_)):
                if scope.meanings("require") is None:
                    self.program.imports.append(Import(module, line, optional))
            case Call(of=Imported(name="import"), arguments=(Text(text=module), *_)):
                self.program.imports.append(Import(module, line, optional))

    def _import(self, node: Node, scope: Scope) -> None:
        source = node.child_by_field_name("source")
        if source is None or any(one.type == "type" for one in node.children):
            return
        module = nodes.text(source)
        self.program.imports.append(Import(module, nodes.line(node)))
        name = module_name(module)
        for clause in node.named_children:
            if clause.type != "import_clause":
                continue
            for part in clause.named_children:
                if part.type == "identifier":
                    scope.bind(nodes.source(part), Imported(name))
                elif part.type == "namespace_import":
                    scope.bind(nodes.source(part.named_children[-1]), Imported(name))
                elif part.type == "named_imports":
                    for one in part.named_children:
                        self._specifier(one, name, scope)

    def _specifier(self, one: Node, module: str, scope: Scope) -> None:
        name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
        if name is not None:
            member = "" if nodes.source(name) == "default" else f".{nodes.source(name)}"
            scope.bind(nodes.source(alias or name), Imported(module + member))

    def _function(self, node: Node, scope: Scope, *, handles: bool = False) -> Function:
        single = node.child_by_field_name("parameter")
        listed = node.child_by_field_name("parameters")
        given = [single] if single is not None else [] if listed is None else listed.named_children
        given = [one for one in given if one.type not in nodes.TYPES]
        patterns = [one.child_by_field_name("pattern") or one for one in given]
        names = tuple(nodes.source(nodes.plain(one)) for one in patterns)
        function = Function(nodes.line(node), names, handles=handles)
        self._functions[node.id] = function
        inner = Scope(scope, function=function)
        for pattern, name in zip(patterns, names, strict=True):
            if pattern.type == "identifier":
                self.word(name)
                inner.bind(name, Parameter(function, name))
            else:
                default = pattern.child_by_field_name("right")
                value: Expression = Parameter(function, name)
                if default is not None:
                    function.defaults[name] = self.expression(default, scope)
                bind(self, nodes.plain(pattern), value, inner)
        called = node.child_by_field_name("name")
        if called is not None:
            self.word(nodes.source(called))
            if node.type == "method_definition":
                self.member(nodes.source(called), function)
            else:
                scope.bind(nodes.source(called), function)
        self.later([one for one in patterns if one.type != "identifier"], inner, False)
        if (body := node.child_by_field_name("body")) is not None:
            self.later((body,), inner, False)
        return function

    def _bindings(self, node: Node, scope: Scope) -> None:
        match node.type:
            case "call_expression":
                called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
                name = called.child_by_field_name("property") if called is not None else None
                if name is not None and given is not None and HANDLING.fullmatch(nodes.source(name)):
                    for one in given.named_children:
                        if one.type in FUNCTIONS:
                            self._function(one, scope, handles=True)
            case "variable_declarator":
                target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
                if target is not None and value is not None:
                    bind(self, target, self._value(value, scope), scope)
                elif target is not None and target.type == "identifier":
                    scope.names.setdefault(nodes.source(target), [])
            case "assignment_expression":
                target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
                if target is not None and value is not None:
                    bind(self, target, self._value(value, scope), self._home(target, scope))
            case "augmented_assignment_expression":
                target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
                if target is not None and value is not None:
                    both = Joined((self.expression(target, scope), self.expression(value, scope)))
                    bind(self, target, both, self._home(target, scope))
            case "for_in_statement":
                target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
                if target is not None and value is not None:
                    bind(self, target, Element(self.expression(value, scope)), scope)
            case "catch_clause":
                if (name := node.child_by_field_name("parameter")) is not None:
                    bind(self, name, UNKNOWN, scope)
            case "public_field_definition" | "field_definition":
                name = node.child_by_field_name("name") or node.child_by_field_name("property")
                value = node.child_by_field_name("value")
                if name is not None and value is not None:
                    self.member(nodes.source(name), self._value(value, scope))

    def _home(self, target: Node, scope: Scope) -> Scope:
        """The scope in which *target*, which is given a value in *scope*, was declared."""
        home: Scope | None = scope
        while home is not None and target.type == "identifier":
            if nodes.source(target) in home.names:
                return home
            home = home.parent
        return scope

    def _value(self, node: Node, scope: Scope) -> Expression:
        if node.type not in FUNCTIONS:
            return self.expression(node, scope)
        # The function is read now, so that the name it is given and its parameters are of one object.
        return self._functions.get(node.id) or self._function(node, scope)
