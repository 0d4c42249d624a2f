"""When two JSON values are the same."""

from __future__ import annotations

import json
import re
from typing import Any

# A longer digit string is no number that anybody compares; int() of it would take quadratic time.
NUMBER_CHARS = 1_000
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")


def equal(left: Any, right: Any) -> bool:
    """Deep equality of JSON values: 1 equals 1.0, true does not equal 1, the order of members does not matter."""
    pending = [(left, right)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pending.extend((value, b[name]) for name, value in a.items())
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pending.extend(zip(a, b, strict=True))
        elif isinstance(a, bool) or isinstance(b, bool):
            if a is not b:
                return False
        elif a != b:
            return False
    return True


def same_text(left: Any, right: Any) -> bool:
    """Whether two scalars have the same trimmed JSON text, or texts that are the same JSON number."""
    if isinstance(left, dict | list) or isinstance(right, dict | list):
        return False
    a, b = _scalar_text(left), _scalar_text(right)
    if a == b:
        return True
    number = _number(a)
    return number is not None and number == _number(b)


def _scalar_text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value)


def _number(text: str) -> tuple[str, str, int] | None:
    """Sign, significant digits and power of ten of a JSON number: compared without ever being computed."""
    if len(text) > NUMBER_CHARS:
        return None
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = match.groups()
    fraction = fraction or ""
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "", "", 0
    significant = digits.rstrip("0")
    return sign, significant, int(exponent or 0) - len(fraction) + len(digits) - len(significant)
