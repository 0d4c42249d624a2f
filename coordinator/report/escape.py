"""Text of others, made harmless for where it is shown. Nothing is dropped: what cannot be shown is spelt out."""

from __future__ import annotations

import re
import unicodedata

# Control (Cc), format (Cf: bidirectional overrides, zero-width, tags), surrogates, private use, unassigned, separators.
_UNSHOWABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARKUP = re.compile(r"[\\`*\[\]<>&|~@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_FORMULA = frozenset("=+-@|%")
_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def terminal(text: str) -> str:
    r"""*text* on one line, with control and invisible characters spelt as ``\x1b`` or ``\u202e``."""
    return "".join(_spelt(char) for char in text)


def markdown(text: str) -> str:
    """*text* as literal Markdown within a line or a table's cell: no markup, no HTML, no link of its own.

    Letters between underscores stay as they are: GitHub's dialect and CommonMark read no emphasis inside a word.
    """
    return _LINK.sub(lambda match: f"&#{ord(match.group())};", _MARKUP.sub(r"\\\g<0>", terminal(text)))


def spreadsheet(text: str) -> str:
    """*text* for a cell: what a spreadsheet would take for a formula gets an apostrophe in front.

    Spreadsheets look past blanks and quotation marks for the sign that begins one, and know its full-width forms.
    """
    shown = terminal(text)
    begins = unicodedata.normalize("NFKC", shown).lstrip("\"' ")[:1]
    return f"'{shown}" if begins in _FORMULA else shown


def cut(text: str, most: int) -> str:
    """At most *most* characters of *text*; an ellipsis tells that there were more."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _spelt(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    if char in "\n\t\r":
        return {"\n": r"\n", "\t": r"\t", "\r": r"\r"}[char]
    if unicodedata.category(char) not in _UNSHOWABLE:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
