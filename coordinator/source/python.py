"""Python source as a `Program`, by ``ast``: parsed, never imported, compiled or run."""

from __future__ import annotations

import ast
import re
import warnings
from itertools import islice

from coordinator.source.expressions import (
    MAX_DEPTH,
    UNKNOWN,
    Element,
    Expression,
    Function,
    Imported,
    Items,
    Joined,
    Name,
    Parameter,
    Program,
    Scope,
)
from coordinator.source.facts import Import
from coordinator.source.models import model_reads
from coordinator.source.python_expressions import made
from coordinator.source.reader import Reader

SUFFIXES = (".py", ".pyw", ".pyi")
# A decorator such as @app.post("/x"), @mcp.tool() or @tool: what is decorated is called with what a caller sends.
HANDLING = re.compile(r"(?:route|get|post|put|patch|delete|websocket|tool|resource|prompt|rpc|method|handler)", re.I)
OPTIONAL = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
MAX_READS = 10_000


def program(data: bytes) -> Program:
    """The program in *data*.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: If it is none, or one that is too deep to be parsed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in a stranger's text is no concern of ours
        tree = ast.parse(data)
    found = _Reader(tree).program
    found.reads.extend(islice(model_reads(tree, _handles), MAX_READS))
    return found


class _Reader(Reader[ast.AST]):
    def visit(self, node: ast.AST, scope: Scope, optional: bool) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope, optional)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, scope)
                return
            case ast.ClassDef(name=name):
                self.word(name)
                scope.bind(name, UNKNOWN)
                inner = Scope(scope, is_class=True)
                self.later((*node.decorator_list, *node.bases, *node.keywords), scope, optional)
                self.later(node.body, inner, optional)
                return
            case ast.Try(handlers=handlers):
                excused = optional or any(_excuses(one.type) for one in handlers)
                self.later(node.body, scope, excused)
                self.later((*handlers, *node.orelse, *node.finalbody), scope, excused)
                return
            case ast.If(test=test) if "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", "")):
                self.later((test, *node.body), scope, True)
                self.later(node.orelse, scope, optional)
                return
            case ast.AnnAssign(target=target, value=value, annotation=annotation):
                self._annotation(annotation)
                self._bindings(node, scope)
                self.later([one for one in (target, value) if one is not None], scope, optional)
                return
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, types]):
                self.bases.update(id(part) for part in ast.walk(types))  # asked about, and not used
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                scope = Scope(scope)
            case _:
                self._bindings(node, scope)
        self._site(node, scope)
        self.later(ast.iter_child_nodes(node), scope, optional)

    def identity(self, node: ast.AST) -> int:
        return id(node)

    def make(self, node: ast.AST, scope: Scope, depth: int) -> Expression:
        return made(node, lambda part: self.expression(part, scope, depth + 1), scope)

    def _site(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Call(lineno=line):
                self.site(self.expression(node, scope), line, scope)
                for keyword in node.keywords:
                    self.word(keyword.arg or "")
            case ast.Attribute(lineno=line, attr=attr):
                self.word(attr)
                self.bases.add(id(node.value))
                if isinstance(node.ctx, ast.Load) and id(node) not in self.bases:
                    self.site(self.expression(node, scope), line, scope)
            case ast.Subscript(lineno=line, ctx=ast.Load()):
                self.site(self.expression(node, scope), line, scope)
            case ast.Name(lineno=line, id=name):
                self.word(name)
                if isinstance(node.ctx, ast.Load) and id(node) not in self.bases:
                    self.site(Name(name, scope), line, scope)
            case ast.Constant(value=str(text)):
                self.word(text)
            case ast.MatchMapping() | ast.MatchClass(kwd_attrs=[_, *_]):
                for name in getattr(node, "kwd_attrs", ()):
                    self.word(name)

    def _annotation(self, node: ast.expr | None) -> None:
        """A type is named there, and nothing used; the names count as such, they may be those of inputs."""
        for part in ast.walk(node) if node is not None else ():
            self.word(getattr(part, "id", "") or str(getattr(part, "value", "")) * isinstance(part, ast.Constant))

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope, optional: bool) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.program.imports.append(Import(alias.name, node.lineno, optional))
                whole = alias.asname is not None
                bound = alias.name if whole else alias.name.partition(".")[0]
                scope.bind(alias.asname or bound, Imported(bound))
            return
        module = "." * node.level + (node.module or "")
        inner = module if module.endswith(".") else f"{module}."
        for alias in node.names:  # each may be a module of its own
            self.program.imports.append(Import(inner + alias.name, node.lineno, optional or node.level > 0))
        self.program.imports.append(Import(module, node.lineno, optional))
        for alias in node.names:
            if alias.name == "*":
                self.program.stars.append(module)
            else:
                scope.bind(alias.asname or alias.name, Imported(f"{module}.{alias.name}"))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> None:
        arguments = node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        defaults: dict[str, Expression] = {}
        outside: list[ast.AST] = [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]
        for argument, default in zip(reversed(plain), reversed(arguments.defaults), strict=False):
            defaults[argument.arg] = self.expression(default, scope)
        for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=False):
            if given is not None:
                defaults[argument.arg] = self.expression(given, scope)
        decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
        static = any(getattr(one, "id", "") == "staticmethod" for one in decorators)
        function = Function(
            node.lineno,
            tuple(argument.arg for argument in plain) + tuple(argument.arg for argument in arguments.kwonlyargs),
            defaults,
            handles=any(_handles(one) for one in decorators),
            method=scope.is_class and not static,
        )
        inner = Scope(scope, function=function)
        for argument in (*plain, *arguments.kwonlyargs):
            self.word(argument.arg)
            inner.bind(argument.arg, Parameter(function, argument.arg))
            self._annotation(argument.annotation)
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                inner.bind(star.arg, Parameter(function, star.arg) if function.handles else UNKNOWN)
        if isinstance(node, ast.Lambda):
            self.later((*outside,), scope, False)
            self.later((node.body,), inner, False)
            return
        self.word(node.name)
        scope.bind(node.name, function)
        if scope.is_class:
            self.member(node.name, function)
        self._annotation(node.returns)
        self.later((*decorators, *outside), scope, False)
        self.later(node.body, inner, False)

    def _bindings(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, self.expression(value, scope), scope)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._bind(target, self.expression(value, scope), scope)
            case ast.AugAssign(target=target, value=value):
                self._bind(target, Joined((self.expression(target, scope), self.expression(value, scope))), scope)
            case ast.NamedExpr(target=target, value=value):
                self._bind(target, self.expression(value, scope), scope)
            case ast.For(target=target, iter=items) | ast.AsyncFor(target=target, iter=items):
                self._bind(target, Element(self.expression(items, scope)), scope)
            case ast.comprehension(target=target, iter=items):
                self._bind(target, Element(self.expression(items, scope)), scope)
            case ast.withitem(context_expr=value, optional_vars=target) if target is not None:
                self._bind(target, self.expression(value, scope), scope)
            case ast.ExceptHandler(name=str(name)):
                scope.bind(name, UNKNOWN)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self._shared(names, scope)

    def _shared(self, names: list[str], scope: Scope) -> None:
        """Names of an outer scope: what is bound here is bound there."""
        outer = scope.parent
        while outer is not None and outer.parent is not None:
            outer = outer.parent
        if outer is not None:
            for name in names:
                scope.names[name] = outer.names.setdefault(name, [])

    def _bind(self, target: ast.expr, value: Expression, scope: Scope, depth: int = 0) -> None:
        match target:
            case ast.Name(id=name):
                scope.bind(name, value)
                if scope.is_class:
                    self.member(name, value)
            case ast.Attribute(value=ast.Name(), attr=attr):
                self.member(attr, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if depth < MAX_DEPTH:
                given = value.of if isinstance(value, Items) and len(value.of) == len(parts) else None
                for place, part in enumerate(parts):
                    self._bind(part, given[place] if given else UNKNOWN, scope, depth + 1)
            case ast.Starred(value=inner) if depth < MAX_DEPTH:
                self._bind(inner, UNKNOWN, scope, depth + 1)


def _handles(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = getattr(target, "attr", getattr(target, "id", ""))
    return HANDLING.fullmatch(name) is not None


def _excuses(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    several = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(getattr(one, "id", getattr(one, "attr", "")) in OPTIONAL for one in several)
