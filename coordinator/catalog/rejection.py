"""Saying no to one entry of a catalog.

What was found is the text of a stranger: it is shown short, on one line, with everything unprintable escaped.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

FOUND_CHARS = 80
NEAR = 0.7


class Rejected(Exception):
    """One entry cannot be certified: *pointer* into it, what was *expected* there, what was *found*."""

    def __init__(self, pointer: str, expected: str, found: str) -> None:
        super().__init__(f"{pointer or '/'}: expected {expected}, found {found}")
        self.pointer = pointer
        self.expected = expected
        self.found = found


def child(pointer: str, name: str | int) -> str:
    """The JSON pointer of *name* under *pointer* (RFC 6901), safe to show."""
    step = printable(str(name)[:FOUND_CHARS]).replace("~", "~0").replace("/", "~1")
    return f"{pointer}/{step}"


def printable(text: str) -> str:
    """*text* with everything unprintable, surrogates and direction marks among them, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: Any) -> str:
    """A few printable words for *value*, whatever it holds."""
    match value:
        case dict():
            names = ", ".join(_quoted(str(name)) for name in list(value)[:4])
            more = ", ..." if len(value) > 4 else ""
            text = f"an object with {names}{more}" if value else "an empty object"
        case list():
            text = f"a list of {len(value)}" if value else "an empty list"
        case str():
            return _quoted(value)
        case None | bool() | int() | float():
            text = json.dumps(value)
        case _:
            text = f"a {type(value).__name__}"
    return text if len(text) <= 2 * FOUND_CHARS else text[: 2 * FOUND_CHARS] + "..."


def kind(value: Any) -> str:
    """What sort of JSON value *value* is, without showing it: for fields that may hold a secret."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return "a text" if value else "an empty text"
        case bool():
            return "true or false"
        case None:
            return "null"
        case _:
            return "a number"


def near(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for a probable misspelling of one of *known*, else nothing."""
    matches = difflib.get_close_matches(name[:FOUND_CHARS].lower(), sorted(known), n=1, cutoff=NEAR)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def _quoted(text: str) -> str:
    short = text if len(text) <= FOUND_CHARS else text[:FOUND_CHARS]
    quoted = f'"{printable(short)}"'
    return quoted if short is text else f"{quoted}... ({len(text)} characters)"
