"""The expressions of Python, made of the nodes of ``ast``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from coordinator.source.expressions import (
    UNKNOWN,
    Call,
    Either,
    Expression,
    Items,
    Joined,
    Member,
    Name,
    Scope,
    Text,
)

PERCENT = re.compile(r"%[-#0-9 +.]*[a-zA-Z(]")

Inner = Callable[[ast.AST], Expression]


def made(node: ast.AST, inner: Inner, scope: Scope) -> Expression:
    """What *node* is in *scope*, its parts made by *inner*."""
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


def _members(keys: list[ast.expr | None], values: list[ast.expr], inner: Inner) -> Iterator[tuple[str, Expression]]:
    for number, (key, value) in enumerate(zip(keys, values, strict=True)):
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else f"\0{number}"
        yield name, inner(value)
