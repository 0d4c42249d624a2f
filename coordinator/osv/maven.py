"""How Maven orders versions: tokens, each with what stands before it, and qualifiers with a meaning of their own.

Compared with `ComparableVersion` of Maven 3.9: alike on all versions that are in use; odd mixtures of words, hyphens
and dots (``1-GA-M1.0``) differ now and then.

Source: https://maven.apache.org/pom.html#version-order-specification
"""

from __future__ import annotations

import re
from itertools import zip_longest

TOKEN = re.compile(r"(?P<mark>[.\-_]?)(?:(?P<number>\d+)|(?P<word>[^\d.\-_]+))|(?P<empty>[.\-_])", re.ASCII)
RANKS = {"alpha": 0, "beta": 1, "milestone": 2, "rc": 3, "cr": 3, "snapshot": 4, "": 5, "final": 5, "ga": 5,
         "release": 5, "sp": 6}  # fmt: skip
UNKNOWN_RANK = 7
SHORT = {"a": "alpha", "b": "beta", "m": "milestone"}  # where a number follows at once
RELEASE = (0, RANKS[""], "")

Token = tuple[int, int, str]  # words before numbers behind a hyphen before numbers behind a dot; rank or number; word


class MavenVersion:
    """A version of Maven's; every text is one."""

    __slots__ = ("_tokens",)

    def __init__(self, text: str) -> None:
        self._tokens = _trimmed(_tokens(text.lower()))

    def __lt__(self, other: MavenVersion) -> bool:
        """Token by token; what one of them lacks is as good as its release."""
        for mine, theirs in zip_longest(self._tokens, other._tokens):
            a, b = mine or _nothing(theirs), theirs or _nothing(mine)
            if a != b:
                return bool(a < b)
        return False


def maven(text: str) -> MavenVersion | None:
    """*text* as a version of Maven; None where it does not begin with a number, as what is no version."""
    return MavenVersion(text) if text[:1].isascii() and text[:1].isdigit() else None


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for at in TOKEN.finditer(text):
        hyphen = at["mark"] != "." and at.start() > 0  # what changes from digits to letters is as good as a hyphen
        if at["empty"] is not None:
            found.append((2 if at["empty"] == "." else 1, 0, ""))
        elif at["number"] is not None:
            found.append((1 if hyphen else 2, int(at["number"]), ""))
        else:
            word = at["word"]
            if text[at.end() : at.end() + 1].isdigit():
                word = SHORT.get(word, word)
            rank = RANKS.get(word, UNKNOWN_RANK)
            found.append((0, rank, word if rank == UNKNOWN_RANK else ""))
    return found


def _trimmed(tokens: list[Token]) -> list[Token]:
    """*tokens* without what says nothing at the end, and before each hyphen."""
    kept: list[Token] = []
    for token in reversed(tokens):
        behind = kept[-1] if kept else None
        nothing = token[1:] == (0, "") if token[0] else token == RELEASE
        if not nothing or (behind is not None and behind[0] == 2):
            kept.append(token)
    return kept[::-1]


def _nothing(beside: Token | None) -> Token:
    assert beside is not None  # noqa: S101 - one of the two is there
    return RELEASE if beside[0] == 0 else (beside[0], 0, "")
