"""A good text tool: one named operation on one text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from skills import _inputs

LONGEST = 20_000

OPERATIONS: dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "reverse": lambda text: text[::-1],
    "squeeze": lambda text: " ".join(text.split()),
    "slug": lambda text: re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"),
    "initials": lambda text: "".join(word[0] for word in text.split()).upper(),
}


def answer(inputs: dict[str, Any]) -> tuple[int, Any]:
    """The ``text`` after the ``operation``, and how many words it had."""
    _inputs.only(inputs, "operation", "text")
    operation = OPERATIONS[_inputs.choice(inputs, "operation", OPERATIONS)]
    text = _inputs.text(inputs, "text", longest=LONGEST)
    return 200, {"result": operation(text), "words": len(text.split())}
