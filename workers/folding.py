"""Texts made comparable: what a reader would not tell apart becomes equal."""

from __future__ import annotations

import re
import unicodedata

# Unicode's tag characters are ASCII that no font shows.
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
_SPACE = re.compile(r"\s+")
_NOT_ALNUM = re.compile(r"[\W_]+")
_NOT_LETTER = re.compile(r"[\W\d_]+")


def visible(text: str) -> str:
    """*text* without invisible characters; tag characters become the letters that they stand for."""
    if text.isascii():
        return text
    # Looked up once a different character: an answer may have a quarter of a million of them.
    changes: dict[int, int | None] = {
        ord(letter): _TAGS.get(ord(letter))
        for letter in set(text)
        if ord(letter) in _TAGS or unicodedata.category(letter) in ("Cf", "Cn", "Co")
    }
    return text.translate(changes) if changes else text


def fold(text: str) -> str:
    """*text* in compatibility form (NFKC), without case, invisible characters or runs of white space."""
    plain = visible(text)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain)
    return _SPACE.sub(" ", plain.casefold()).strip()


def squeeze(text: str) -> str:
    """The letters and digits of *text*, folded: separators and mark-up carry no evidence."""
    return squeeze_folded(fold(text))


def squeeze_folded(folded: str) -> str:
    """As `squeeze`, of a text that is folded already."""
    return _NOT_ALNUM.sub("", folded)


def letters(text: str) -> str:
    """The letters of *text* alone, folded: neither digits nor separators stand between them."""
    return _NOT_LETTER.sub("", fold(text))


def tokens(text: str) -> list[str]:
    """The runs of letters and digits of *text*, folded."""
    return _NOT_ALNUM.sub(" ", fold(text)).split()
