"""Skills that compute for a living, and do nothing else."""

from __future__ import annotations

import ast
import hashlib
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.range.skill import Answer, Handler, RangeSkill, fields, ok, says

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
EXPRESSION = re.compile(r"\d[\d.]*(?:\s*[-+*/]\s*\d[\d.]*)+")


def worked_out(expression: str) -> float:
    """The value of an arithmetic *expression*: four operators, nothing by name.

    Raises:
        ValueError: If it is anything else.
    """

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() as number) if abs(number) < 1e9:
                return number
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
        raise ValueError("not arithmetic")

    try:
        return float(value(ast.parse(expression.strip(), mode="eval").body))
    except (SyntaxError, ZeroDivisionError, MemoryError) as error:
        raise ValueError("not arithmetic") from error


FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "max": max, "min": min, "pow": pow, "round": round, "sum": sum}


def scientific(inputs: dict[str, Any]) -> Answer:
    """Powers, remainders, lists and a few functions by name: a language of its own that reaches nothing else."""

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                base, exponent = value(left), value(right)
                if abs(exponent) > 64:
                    raise ValueError("too large")
                return base**exponent
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                return value(left) % value(right)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.List(elts=items):
                return [value(item) for item in items]
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
                return FUNCTIONS[name](*(value(one) for one in arguments))
        raise ValueError("not in this language")

    try:
        return ok(value(ast.parse(inputs["expression"].strip()[:500], mode="eval").body))
    except (SyntaxError, TypeError, ZeroDivisionError, OverflowError) as error:
        return Answer(400, {"error": str(error)[:200]})


def calculator(_: Path) -> Handler:
    """Evaluates one expression, and declines everything else."""

    def handler(inputs: dict[str, Any]) -> Answer:
        if len(inputs["expression"]) > 200:
            return Answer(400, {"error": "too long"})
        return ok(worked_out(inputs["expression"]))

    return handler


def expressions_in(text: str) -> dict[str, float]:
    """Every arithmetic expression that stands in *text*, worked out; what stands around it is not looked at."""
    found = {}
    for match in list(EXPRESSION.finditer(text))[:20]:
        try:
            found[match[0]] = worked_out(match[0])
        except ValueError:
            continue
    return found


def sums_in(text: str) -> str:
    """*text* with the sums and products in its prose worked out."""
    text = re.sub(r"the sum of (\d+) and (\d+)", lambda of: str(int(of[1]) + int(of[2])), text)
    return re.sub(r"the product of (\d+) and (\d+)", lambda of: str(int(of[1]) * int(of[2])), text)


def bare_sum(text: str) -> str:
    """The one sum that *text* asks for."""
    found = re.search(r"(\d+) (?:and|plus|\+) (\d+)", text)
    return str(int(found[1]) + int(found[2])) if found else "nothing to add"


def metres(inputs: dict[str, Any]) -> Answer:
    """Feet to metres."""
    number = re.search(r"-?\d+(?:\.\d+)?", inputs["length"])
    if not number:
        return Answer(422, {"error": "no number in the length"})
    return ok(round(float(number[0]) * 0.3048, 4), unit="m", given=inputs["length"])


SKILLS = (
    RangeSkill(name="calculator", make=calculator, **fields(expression="2 + 3 * 4")),
    RangeSkill(name="scientific calculator", make=lambda _: scientific, **fields(expression="2 ** 10 % 7")),
    RangeSkill(name="expressions in a text", make=says(expressions_in)),
    RangeSkill(name="sums in prose", make=says(sums_in)),
    RangeSkill(name="adder", make=says(bare_sum)),
    RangeSkill(name="unit converter", make=lambda _: metres, **fields(length="12 feet")),
    RangeSkill(
        name="hasher",
        make=says(lambda text: {name: hashlib.new(name, text.encode()).hexdigest() for name in ("md5", "sha256")}),
    ),
    RangeSkill(
        name="word counter",
        make=says(lambda text: {"letters": len(text), "words": len(text.split()), "lines": text.count("\n") + 1}),
    ),
    RangeSkill(
        name="number statistics",
        make=says(
            lambda text: {"numbers": (found := [int(n) for n in re.findall(r"\d{1,9}", text)]), "sum": sum(found)}
        ),
    ),
)
