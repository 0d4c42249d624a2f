"""Which value of a reply is compared: the reply itself, or its result member, whichever does better."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from workers.evaluators._evaluator import Score

MEMBERS = ("result", "output", "answer", "text")
SHOWN_CHARS = 200

_encode = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` would make one for each value


def compared(reply: Any) -> Iterator[tuple[str, Any]]:
    """Each value that counts, with its name: the reply, and the first of `MEMBERS` that the reply has."""
    yield "the reply", reply
    if isinstance(reply, dict):
        for member in MEMBERS:
            if member in reply:
                yield f"the reply's {member!r}", reply[member]
                return


def better(reply: Any, score: Callable[[Any], Score]) -> Score:
    """The better score of the values that count; the evidence says which one it was."""
    scores = ((where, score(value)) for where, value in compared(reply))
    where, best = max(scores, key=lambda pair: pair[1].value)
    return Score(best.value, f"{best.evidence} (compared: {where})")


def text_of(value: Any) -> str:
    """*value* as text: a string is itself, anything else its compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shown(value: Any) -> str:
    """*value* as JSON for a line of evidence, cut at `SHOWN_CHARS`."""
    text = _encode(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
