"""Declared failure modes, as far as an unusual call can bring them about.

A failure mode is prose. Read are only the sentences that say plainly which calls they mean: an input that is missing,
empty, too long, out of range, unknown, of the wrong type, or a body that is no JSON. Of the behaviour, only a 4xx
status in so many words, and whether it is a refusal at all. All others (an upstream that is down, a limit that time
decides) cannot be brought about from outside, and nobody is blamed for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import re2
from msgspec import Struct

from coordinator.catalog.skill import FailureMode

CHARS = 2_000
SHOWN_CHARS = 160
MODES = 100

_FIELD = r"\b(?:input|field|parameter|argument|property|member)s?\b"
_TEXT = r"\b(?:input|field|parameter|argument|text|string|message|question|query|value|note|prompt)s?\b"
_ANY = ""
# kind of edge case: what its condition must say, and how it may refer to the input unless it names it
_CONDITIONS: dict[str, tuple[str, str]] = {
    "malformed": (r"\b(?:malformed|unparsable|unparseable|invalid json|not (?:valid )?json|no json)\b", _ANY),
    "missing": (r"\b(?:missing|absent|omitted|not given|not provided)\b", _FIELD),
    "wrong type": (r"\b(?:wrong|invalid|incorrect|unexpected|mismatched) types?\b|\btype mismatch\b", _ANY),
    "extra": (r"\b(?:unknown|undeclared|unexpected|extra|additional|unrecogni[sz]ed)\b", _FIELD),
    "empty": (r"\b(?:empty|blank)\b", _TEXT),
    "undeclared": (r"\b(?:unknown|unsupported|unrecogni[sz]ed|invalid|not (?:one of|supported|known))\b", _FIELD),
    "beyond": (r"\btoo long\b|\b(?:longer|more) than\b.{0,40}\bcharacters\b", _ANY),
}
_OUT_OF_RANGE = re2.compile(
    r"(?i)\bout of (?:the )?(?:range|bounds)\b|\btoo (?:large|small|big|high|low)\b|\bexceeds?\b"
)
_SAYS = {kind: (re2.compile(f"(?i){said}"), re2.compile(f"(?i){of}")) for kind, (said, of) in _CONDITIONS.items()}
_STATUS = re2.compile(r"\b(4[0-9][0-9])(?:[.,;:)]|$| (?:with|before|and|or|when|if|bad|error|unprocessable|not)\b| \()")
_REFUSES = re2.compile(r"(?i)\b(?:4[0-9][0-9]|errors?|refus\w*|reject\w*|declin\w*|fail\w*|invalid|exceptions?)\b")


class Declared(Struct, frozen=True):
    """What the manifest says of a kind of call: the *statuses* that it names, and whether it is *refused* at all."""

    mode: FailureMode
    statuses: tuple[int, ...]
    refused: bool

    def __str__(self) -> str:
        """The failure mode in one short line."""
        line = " ".join(f"{self.mode.condition} -> {self.mode.behaviour}"[:CHARS].split())
        return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"


def declared(kind: str, name: str, value: Any, modes: Sequence[FailureMode]) -> Declared | None:
    """The first of *modes* that is about calls of this *kind* whose input *name* is *value*; None if none is."""
    if kind not in _SAYS or (kind == "empty" and value != ""):
        return None
    says, refers = _SAYS[kind]
    if kind == "beyond" and not isinstance(value, str):
        says = _OUT_OF_RANGE
    for mode in modes[:MODES]:
        condition = mode.condition[:CHARS]
        encoded = condition.encode(errors="replace")
        if says.search(encoded) and (refers.search(encoded) or _names(condition, name)):
            behaviour = mode.behaviour[:CHARS].encode(errors="replace")
            statuses = tuple(sorted({int(found) for found in _STATUS.findall(behaviour)}))
            return Declared(mode, statuses, not behaviour or _REFUSES.search(behaviour) is not None)
    return None


def _names(condition: str, name: str) -> bool:
    """Whether *name* is one of the words of *condition*."""
    words = "".join(char if char.isalnum() or char in "_-" else " " for char in condition.casefold()).split()
    return name.casefold() in words
