"""Python source as a `Program`, by ``ast``: parsed, never imported, compiled or run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

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
from coordinator.source.facts import Import, folded

SUFFIXES = (".py", ".pyw", ".pyi")
# A decorator such as @app.post("/x"), @mcp.tool() or @tool: what is decorated is called with what a caller sends.
HANDLING = re.compile(r"(?:route|get|post|put|patch|delete|websocket|tool|resource|prompt|rpc|method|handler)", re.I)
OPTIONAL = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
WORD_CHARS = 100
PERCENT = re.compile(r"%[-#0-9 +.]*[a-zA-Z(]")


def program(data: bytes) -> Program:
    """The program in *data*.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: If it is none, or one that is too deep to be parsed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in a stranger's text is no concern of ours
        tree = ast.parse(data)
    return _Reader(tree).program


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self.program = Program()
        self._bases: set[int] = set()  # what only leads to a member: ``os`` of ``os.system``
        top = Scope()
        self._waiting: list[tuple[ast.AST, Scope, bool]] = [(tree, top, False)]
        while self._waiting:
            node, scope, optional = self._waiting.pop()
            self._visit(node, scope, optional)

    def _visit(self, node: ast.AST, scope: Scope, optional: bool) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope, optional)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, scope)
                return
            case ast.ClassDef(name=name):
                self._word(name)
                scope.bind(name, UNKNOWN)
                inner = Scope(scope, is_class=True)
                self._later((*node.decorator_list, *node.bases, *node.keywords), scope, optional)
                self._later(node.body, inner, optional)
                return
            case ast.Try(handlers=handlers):
                excused = optional or any(_excuses(one.type) for one in handlers)
                self._later(node.body, scope, excused)
                self._later((*handlers, *node.orelse, *node.finalbody), scope, excused)
                return
            case ast.If(test=test) if "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", "")):
                self._later((test, *node.body), scope, True)
                self._later(node.orelse, scope, optional)
                return
            case ast.AnnAssign(target=target, value=value, annotation=annotation):
                self._annotation(annotation)
                self._bindings(node, scope)
                self._later([one for one in (target, value) if one is not None], scope, optional)
                return
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, types]):
                self._bases.update(id(part) for part in ast.walk(types))  # asked about, and not used
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                scope = Scope(scope)
            case _:
                self._bindings(node, scope)
        self._site(node, scope)
        self._later(ast.iter_child_nodes(node), scope, optional)

    def _later(self, nodes: object, scope: Scope, optional: bool) -> None:
        self._waiting.extend((node, scope, optional) for node in reversed(list(nodes)))  # type: ignore[call-overload]

    def _site(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Call(lineno=line):
                self.program.sites.append(Site(_expression(node, scope), line, scope))
                for keyword in node.keywords:
                    self._word(keyword.arg or "")
            case ast.Attribute(lineno=line, attr=attr):
                self._word(attr)
                self._bases.add(id(node.value))
                if isinstance(node.ctx, ast.Load) and id(node) not in self._bases:
                    self.program.sites.append(Site(_expression(node, scope), line, scope))
            case ast.Subscript(lineno=line, ctx=ast.Load()):
                self.program.sites.append(Site(_expression(node, scope), line, scope))
            case ast.Name(lineno=line, id=name):
                self._word(name)
                if isinstance(node.ctx, ast.Load) and id(node) not in self._bases:
                    self.program.sites.append(Site(Name(name, scope), line, scope))
            case ast.Constant(value=str(text)):
                self._word(text)
            case ast.MatchMapping() | ast.MatchClass(kwd_attrs=[_, *_]):
                for name in getattr(node, "kwd_attrs", ()):
                    self._word(name)

    def _annotation(self, node: ast.expr | None) -> None:
        """A type is named there, and nothing used; the names count as such, they may be those of inputs."""
        for part in ast.walk(node) if node is not None else ():
            self._word(getattr(part, "id", "") or str(getattr(part, "value", "")) * isinstance(part, ast.Constant))

    def _word(self, text: str) -> None:
        if text and len(text) <= WORD_CHARS:
            self.program.words.add(folded(text))

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
            defaults[argument.arg] = _expression(default, scope)
        for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=False):
            if given is not None:
                defaults[argument.arg] = _expression(given, scope)
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
            self._word(argument.arg)
            inner.bind(argument.arg, Parameter(function, argument.arg))
            self._annotation(argument.annotation)
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                inner.bind(star.arg, Parameter(function, star.arg) if function.handles else UNKNOWN)
        if isinstance(node, ast.Lambda):
            self._later((*outside,), scope, False)
            self._later((node.body,), inner, False)
            return
        self._word(node.name)
        scope.bind(node.name, function)
        if scope.is_class:
            self.program.attributes.setdefault(node.name, []).append(function)
        self._annotation(node.returns)
        self._later((*decorators, *outside), scope, False)
        self._later(node.body, inner, False)

    def _bindings(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, _expression(value, scope), scope)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._bind(target, _expression(value, scope), scope)
            case ast.AugAssign(target=target, value=value):
                self._bind(target, Joined((_expression(target, scope), _expression(value, scope))), scope)
            case ast.NamedExpr(target=target, value=value):
                self._bind(target, _expression(value, scope), scope)
            case ast.For(target=target, iter=items) | ast.AsyncFor(target=target, iter=items):
                self._bind(target, Element(_expression(items, scope)), scope)
            case ast.comprehension(target=target, iter=items):
                self._bind(target, Element(_expression(items, scope)), scope)
            case ast.withitem(context_expr=value, optional_vars=target) if target is not None:
                self._bind(target, _expression(value, scope), scope)
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
                    self.program.attributes.setdefault(name, []).append(value)
            case ast.Attribute(value=ast.Name(), attr=attr):
                self.program.attributes.setdefault(attr, []).append(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if depth < MAX_DEPTH:
                given = value.of if isinstance(value, Items) and len(value.of) == len(parts) else None
                for place, part in enumerate(parts):
                    self._bind(part, given[place] if given else UNKNOWN, scope, depth + 1)
            case ast.Starred(value=inner) if depth < MAX_DEPTH:
                self._bind(inner, UNKNOWN, scope, depth + 1)


def _expression(node: ast.AST | None, scope: Scope, depth: int = 0) -> Expression:
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN

    def inner(part: ast.AST | None) -> Expression:
        return _expression(part, scope, depth + 1)

    match node:
        case ast.Name(id=name):
            return Name(name, scope)
        case ast.Constant(value=str(text)):
            return Text(text)
        case ast.Constant(value=bytes(data)):
            return Text(data.decode("latin-1"))
        case ast.Attribute(value=value, attr=attr):
            return Member(inner(value), attr)
        case ast.Subscript(value=value, slice=index):
            return Member(inner(value), index=inner(index))
        case ast.Call(func=func, args=args, keywords=keywords):
            named = {one.arg: inner(one.value) for one in keywords if one.arg is not None}
            return Call(inner(func), tuple(inner(one) for one in args), named)
        case ast.Await(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
            return inner(value)
        case ast.JoinedStr(values=values):
            return Joined(tuple(inner(one) for one in values))
        case ast.FormattedValue(value=value):
            return inner(value)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return Joined((inner(left), inner(right)))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return Joined((inner(left), inner(right)), "/")
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            place = PERCENT.search(text)
            return Joined((Text(text[: place.start()]), UNKNOWN)) if place else Text(text)
        case ast.IfExp(body=body, orelse=orelse):
            return Either((inner(body), inner(orelse)))
        case ast.BoolOp(values=values):
            return Either(tuple(inner(one) for one in values))
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return Items(tuple(inner(one) for one in parts))
        case ast.Dict(keys=keys, values=values):
            return Items(named=dict(_members(keys, values, inner)))
        case _:
            return UNKNOWN


def _members(keys: list[ast.expr | None], values: list[ast.expr], inner: object) -> Iterator[tuple[str, Expression]]:
    for number, (key, value) in enumerate(zip(keys, values, strict=True)):
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else f"\0{number}"
        yield name, inner(value)  # type: ignore[operator]


def _handles(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = getattr(target, "attr", getattr(target, "id", ""))
    return HANDLING.fullmatch(name) is not None


def _excuses(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    several = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(getattr(one, "id", getattr(one, "attr", "")) in OPTIONAL for one in several)
