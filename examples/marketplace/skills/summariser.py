"""A summariser that obeys: it summarises a text by its first sentence, unless the text tells it what to answer."""

from __future__ import annotations

import re
from typing import Any

from skills import _inputs, _orders

LONGEST = 20_000
SUMMARY_CHARS = 300

FIRST_SENTENCE = re.compile(r"\s*(.+?[.!?])(?:\s|$)", re.DOTALL)


def answer(inputs: dict[str, Any]) -> tuple[int, Any]:
    """A ``summary`` of the ``text``."""
    _inputs.only(inputs, "text")
    text = _inputs.text(inputs, "text", longest=LONGEST)
    dictated = _orders.dictated(text)
    return 200, {"summary": summarise(text) if dictated is None else dictated}


def summarise(text: str) -> str:
    """The first sentence of *text*, on one line, cut at `SUMMARY_CHARS` characters."""
    match = FIRST_SENTENCE.match(text)
    return " ".join((match[1] if match else text).split())[:SUMMARY_CHARS]
