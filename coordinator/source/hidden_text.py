"""Text that a reader does not see and a language model does: characters without a shape, in numbers that carry words.

What scripts and emoji need is none of it: joiners between letters that join, flags and families of emoji, one
variation selector after its base, direction marks around text of the other direction.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from msgspec import Struct

FLAG, END = 0x1F3F4, 0xE007F
RUN = 4  # invisible characters in a row, or
SCATTERED = 16  # in one text without a reason, before they are called a message
ZERO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e")
OVERRIDES = frozenset("\u202d\u202e")
OPENERS = {"\u202a": "\u202c", "\u202b": "\u202c", "\u2066": "\u2069", "\u2067": "\u2069", "\u2068": "\u2069"}
MAX_FOUND = 20
SHOWN_CHARS = 80


class Hidden(Struct, frozen=True):
    """Hidden text at a *line*: its *kind* and, where it can be read, what it *says*."""

    line: int
    kind: str
    says: str = ""


def hidden(text: str) -> list[Hidden]:
    """What is hidden in *text*, in its order."""
    if text.isascii():
        return []
    found = sorted(set(_tags(text)) | set(_selectors(text)) | set(_zero_widths(text)) | set(_directions(text)))
    return [Hidden(text.count("\n", 0, at) + 1, kind, says[:SHOWN_CHARS]) for at, kind, says in found[:MAX_FOUND]]


def _runs(text: str, belongs: frozenset[str] | None, low: int = 0, high: int = 0) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(text):
        end = at
        while end < len(text) and (text[end] in belongs if belongs is not None else low <= ord(text[end]) <= high):
            end += 1
        if end > at:
            yield at, end
        at = max(end, at + 1)


def _tags(text: str) -> Iterator[tuple[int, str, str]]:
    for at, end in _runs(text, None, 0xE0000, 0xE007F):
        says = "".join(chr(ord(c) - 0xE0000) for c in text[at:end] if 0xE0020 <= ord(c) < END)
        flag = at > 0 and ord(text[at - 1]) == FLAG and ord(text[end - 1]) == END
        if flag and 3 <= len(says) <= 6 and says.isalnum() and end - at == len(says) + 1:
            continue
        yield at, "tag characters", says


def _selectors(text: str) -> Iterator[tuple[int, str, str]]:
    at = 0
    while at < len(text):
        end = at
        while end < len(text) and _selector(text[end]) is not None:
            end += 1
        if end - at >= RUN:
            data = bytes(value for c in text[at:end] if (value := _selector(c)) is not None)
            yield at, "a run of variation selectors", data.decode("utf-8", "replace")
        at = max(end, at + 1)


def _selector(character: str) -> int | None:
    code = ord(character)
    if 0xFE00 <= code <= 0xFE0F:
        return code - 0xFE00
    return code - 0xE0100 + 16 if 0xE0100 <= code <= 0xE01EF else None


def _zero_widths(text: str) -> Iterator[tuple[int, str, str]]:
    stray = first = 0
    for at, end in _runs(text, ZERO_WIDTH):
        if end - at >= RUN:
            yield at, "a run of zero-width characters", ""
        elif not _joins(text, at, end):
            stray += end - at
            first = first if stray > end - at else at
    if stray >= SCATTERED:
        yield first, f"{stray} zero-width characters without a reason", ""


def _joins(text: str, at: int, end: int) -> bool:
    before, after = text[at - 1] if at else "", text[end] if end < len(text) else ""
    if at == 0 and text[0] == "\ufeff":
        return True
    # Scripts in which letters join or words are not parted by blanks, and emoji, need them; the Latin script does not.
    return any(one and ord(one) > 0x58F and not one.isspace() for one in (before, after))


def _directions(text: str) -> Iterator[tuple[int, str, str]]:
    if not any(one in text for one in (*OVERRIDES, *OPENERS)):
        return
    offset = 0
    for line in text.split("\n"):
        mirrored = any(unicodedata.bidirectional(one) in ("R", "AL") for one in line)
        waiting = [OPENERS[one] for one in line if one in OPENERS]
        closed = sum(line.count(one) for one in ("\u202c", "\u2069"))
        turned = next((place for place, one in enumerate(line) if one in OVERRIDES), None)
        opened = next((place for place, one in enumerate(line) if one in OPENERS), None)
        if turned is not None and not (mirrored and not any(one.isascii() and one.isalpha() for one in line)):
            yield offset + turned, "an override of the reading direction", ""
        elif opened is not None and not mirrored and len(waiting) > closed:
            yield offset + opened, "an unclosed change of the reading direction", ""
        offset += len(line) + 1
