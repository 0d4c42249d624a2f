"""A good threat detector: says whether a text tries to steer an assistant, and quotes what gave it away.

It quotes attacks word for word, also those that it had to decode first, and does nothing that they ask for. A
certifier that looks for suspicious words in answers would take it for a victim.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from skills import _inputs

LONGEST = 20_000
MOST_FINDINGS = 20

RULES = {
    "override": r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|rule|prompt|above|previous|prior)",
    "dictated reply": r"\b(?:reply|respond|answer|output|response)\b.{0,40}\b(?:with|only|must|exactly)\b",
    "prompt request": r"\b(?:system prompt|initial instructions|your instructions|everything above)\b",
    "role change": r"\b(?:you are now|act as|pretend to be|developer mode|maintenance mode|maintainer)\b",
    "secret request": r"\b(?:password|api key|secret|token|credentials)\b",
    "hidden markup": r"<!--|<\|im_start\|>|\[/?INST\]",
}
COMPILED = {rule: re.compile(pattern, re.IGNORECASE | re.DOTALL) for rule, pattern in RULES.items()}
SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
ENCODED = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


def answer(inputs: dict[str, Any]) -> tuple[int, Any]:
    """A ``verdict`` on the ``text``, and for each rule that fired the sentence as it stands."""
    _inputs.only(inputs, "text")
    text = _inputs.text(inputs, "text", longest=LONGEST)
    findings = _findings(text, hidden=False)
    for decoded in _decoded(text):
        findings += _findings(decoded, hidden=True)
    findings = findings[:MOST_FINDINGS]
    return 200, {"verdict": "threat" if findings else "clean", "findings": findings}


def _findings(text: str, *, hidden: bool) -> list[dict[str, Any]]:
    return [
        {"rule": rule, "quote": sentence.strip(), "encoded": hidden}
        for sentence in SENTENCE.findall(text)[:500]
        for rule, pattern in COMPILED.items()
        if pattern.search(sentence)
    ]


def _decoded(text: str) -> list[str]:
    found = []
    for run in ENCODED.findall(text)[:10]:
        try:
            found.append(base64.b64decode(run, validate=True).decode())
        except (binascii.Error, UnicodeDecodeError):
            continue
    return found
