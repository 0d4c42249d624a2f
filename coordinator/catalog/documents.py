"""Bounded, strict decoding of JSON: each text has one reading or none.

Python's parser takes the last of two members of one name, knows NaN and Infinity, and reads digits without end. Here
such a value becomes a mark in its place (`Twice`, a number that is not finite), which `check` then refuses with its
pointer: so one bad entry of a list spoils itself alone and not the whole list.
"""

from __future__ import annotations

import json
import math
from typing import Any

from coordinator.catalog.rejection import Rejected, child, shown

MAX_MANIFEST_BYTES = 1 << 20
MAX_LIST_BYTES = 256 << 20
MAX_DEPTH = 64
MAX_VALUES = 100_000
MAX_DIGITS = 400  # a double has at most 309 before its point


class CatalogError(Exception):
    """The catalog as a whole cannot be used; the message names path, expected, found, and what to do."""


class Twice(dict[str, Any]):
    """An object in which *name* stood twice: two readings, so none."""

    name: str


def text(data: bytes) -> str:
    """*data* as UTF-8, with or without a byte order mark.

    Raises:
        Rejected: If it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"the byte 0x{data[error.start]:02x} at offset {error.start}"
        raise Rejected("", "UTF-8", found) from None


def json_value(source: str) -> Any:
    """The value that the JSON text *source* holds, still unchecked.

    Raises:
        Rejected: If it is not JSON, or nested so deep that it cannot even be read.
    """
    try:
        return json.loads(
            source, object_pairs_hook=members, parse_int=whole_number, parse_float=float, parse_constant=float
        )
    except json.JSONDecodeError as error:
        found = "nothing" if not source.strip() else f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise Rejected("", "JSON", found) from None
    except RecursionError:
        raise Rejected("", f"at most {MAX_DEPTH} levels of nesting", "far more") from None


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of *pairs*; a `Twice` if two share a name."""
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    names: set[str] = set()
    twice = Twice(value)
    twice.name = next(name for name, _ in pairs if name in names or names.add(name))  # type: ignore[func-returns-value]
    return twice


def whole_number(digits: str) -> int | float:
    """The whole number that *digits* spell; infinity if no double reaches it."""
    if len(digits) > MAX_DIGITS:
        return math.inf
    number = int(digits)
    try:
        float(number)
    except OverflowError:
        return math.inf
    return number


def check(value: Any) -> None:
    """Refuse what JSON cannot say, or says in two ways, and what is too much for one manifest.

    Raises:
        Rejected: At the first such value.
    """
    _Check().visit(value)


class _Check:
    """One walk. Aliases of YAML share values: counting each visit bounds what they would expand to."""

    def __init__(self) -> None:
        self.path: list[str | int] = []
        self.values_left = MAX_VALUES
        self.characters_left = MAX_MANIFEST_BYTES

    def visit(self, value: Any) -> None:
        self.values_left -= 1
        if self.values_left < 0:
            raise Rejected("", f"at most {MAX_VALUES:,} values in one manifest", "more")
        if isinstance(value, str):
            self._text(value)
        elif isinstance(value, float) and not math.isfinite(value):
            raise self._refused("a number that a double can hold", "NaN" if math.isnan(value) else "one out of range")
        elif isinstance(value, dict | list) and len(self.path) == MAX_DEPTH:
            raise self._refused(f"at most {MAX_DEPTH} levels of nesting", "more")
        elif isinstance(value, Twice):
            raise self._refused("each name once in an object", f"{shown(value.name)} twice")
        elif isinstance(value, dict):
            for name, item in value.items():
                self._text(name)
                self._inner(name, item)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self._inner(index, item)

    def _inner(self, step: str | int, value: Any) -> None:
        self.path.append(step)
        self.visit(value)
        self.path.pop()

    def _text(self, text: str) -> None:
        self.characters_left -= len(text)
        if self.characters_left < 0:
            raise Rejected("", f"a manifest of at most {MAX_MANIFEST_BYTES:,} bytes", "more")
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise self._refused("whole Unicode characters", "half of one (a lone surrogate)")

    def _refused(self, expected: str, found: str) -> Rejected:
        pointer = ""
        for step in self.path:
            pointer = child(pointer, step)
        return Rejected(pointer, expected, found)
