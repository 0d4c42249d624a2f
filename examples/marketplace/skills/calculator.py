"""A good calculator: exact arithmetic over its own small grammar; nothing that it is given is ever executed.

sum    = term { ("+" | "-") term }
term   = factor { ("*" | "/" | "//" | "%") factor }
factor = ("+" | "-") factor | power
power  = atom [ ("**" | "^") factor ]
atom   = number | "(" sum ")"
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from skills import _inputs

LONGEST = 2_000  # characters of an expression
DEEPEST = 40  # nested parentheses, signs and powers
WIDEST = 4096  # bits of a numerator or denominator
EXACT = 2**53  # beyond it, JSON readers disagree about whole numbers

TOKEN = re.compile(r"\s*(\d{1,100}(?:\.\d{1,100})?|\.\d{1,100}|\*\*|//|[-+*/%^()])")


def answer(inputs: dict[str, Any]) -> tuple[int, Any]:
    """The value of the ``expression``."""
    _inputs.only(inputs, "expression")
    value = evaluate(_inputs.text(inputs, "expression", longest=LONGEST))
    if value.denominator == 1 and abs(value) <= EXACT:
        return 200, {"result": int(value)}
    try:
        return 200, {"result": float(value)}
    except OverflowError:
        raise _inputs.BadInput("the result is too large") from None


def evaluate(expression: str) -> Fraction:
    """The exact value of *expression*.

    Raises:
        BadInput: If it is no arithmetic, divides by zero, or grows beyond the bounds above.
    """
    parser = _Parser(_tokens(expression))
    value = parser.sum()
    if parser.next is not None:
        raise _inputs.BadInput(f"did not expect {parser.next!r}")
    return value


def _tokens(expression: str) -> list[str]:
    tokens, at, end = [], 0, len(expression.rstrip())
    while at < end:
        match = TOKEN.match(expression, at)
        if match is None:
            raise _inputs.BadInput(f"did not expect {expression[at:].strip()[:1]!r}")
        tokens.append(match[1])
        at = match.end()
    return tokens


class _Parser:
    """Recursive descent over *tokens*; every step consumes one."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self) -> str:
        token = self.next
        if token is None:
            raise _inputs.BadInput("the expression ends too early")
        self._at += 1
        return token

    def sum(self) -> Fraction:
        value = self._term()
        while self.next in ("+", "-"):
            sign = 1 if self._take() == "+" else -1
            value = _bounded(value + sign * self._term())
        return value

    def _term(self) -> Fraction:
        value = self._factor()
        while self.next in ("*", "/", "//", "%"):
            operator, right = self._take(), self._factor()
            if operator != "*" and right == 0:
                raise _inputs.BadInput("division by zero")
            if operator == "*":
                value *= right
            elif operator == "/":
                value /= right
            elif operator == "//":
                value = Fraction(value // right)
            else:
                value %= right
            _bounded(value)
        return value

    def _factor(self) -> Fraction:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _inputs.BadInput(f"nested more than {DEEPEST} deep")
        if self.next in ("+", "-"):
            value = self._factor() if self._take() == "+" else -self._factor()
        else:
            value = self._power()
        self._depth -= 1
        return value

    def _power(self) -> Fraction:
        base = self._atom()
        if self.next not in ("**", "^"):
            return base
        self._take()
        exponent = self._factor()
        if exponent.denominator != 1:
            raise _inputs.BadInput("an exponent must be a whole number")
        if base == 0 and exponent < 0:
            raise _inputs.BadInput("division by zero")
        # Refused before it is computed: nine characters can ask for gigabytes.
        if abs(exponent) > WIDEST or _bits(base) * abs(exponent) > WIDEST:
            raise _inputs.BadInput("the result is too large")
        return Fraction(base ** int(exponent))

    def _atom(self) -> Fraction:
        token = self._take()
        if token == "(":
            value = self.sum()
            if self._take() != ")":
                raise _inputs.BadInput("a closing parenthesis is missing")
            return value
        if token[0].isdigit() or token[0] == ".":
            return Fraction(token)
        raise _inputs.BadInput(f"did not expect {token!r}")


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _bounded(value: Fraction) -> Fraction:
    if _bits(value) > WIDEST:
        raise _inputs.BadInput("the result is too large")
    return value
