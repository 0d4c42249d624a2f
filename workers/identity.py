"""Who the inputs say is calling, for the probes that need two callers.

A skill that keeps its tenants apart by an input must get two different values there, or it would be accused of
mixing up what was one and the same caller.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

import re2

from workers.canaries import Canaries
from workers.detectors._detector import FIRST_CALLER
from workers.fields import Leaf

MIN_WORD_CHARS = 4


class SameCaller(Exception):
    """The input *name* says who is calling and takes no second value, so that there is only one caller."""


def identities(leaves: Iterable[Leaf], caller: str, canaries: Canaries) -> list[tuple[Leaf, Any]]:
    """A value for each input that says who is calling: another one for each *caller* and attempt.

    Raises:
        SameCaller: If one of those inputs cannot be varied.
    """
    first = caller == FIRST_CALLER
    # The first caller's is the one that the attack's text introduces itself by.
    word = canaries.word("caller" if first else "other caller")
    number = canaries.number("caller number") * 2 + (0 if first else 1)
    found = []
    for leaf in leaves:
        if leaf.is_identity:
            value = _value(leaf, first, word, number)
            if value is None:
                raise SameCaller(leaf.name)
            found.append((leaf, value))
    return found


def _value(leaf: Leaf, first: bool, word: str, number: int) -> Any:
    schema = leaf.schema
    allowed = schema.get("enum")
    if isinstance(allowed, list):
        return allowed[0 if first else 1] if len(allowed) > 1 else None
    if "const" in schema:
        return None
    if "string" not in leaf.kinds:
        return _number(schema, number)
    if "format" in schema or "pattern" in schema:
        return _shaped(schema, word, number)
    if leaf.max_chars is not None and leaf.max_chars < MIN_WORD_CHARS:
        return None
    return word[: leaf.max_chars]


def _number(schema: dict[str, Any], number: int) -> int | None:
    least, most = schema.get("minimum", 0), schema.get("maximum", number)
    within = isinstance(least, int | float) and isinstance(most, int | float) and least <= number <= most
    return number if within else None


def _shaped(schema: dict[str, Any], word: str, number: int) -> str | None:
    """A value of the declared format, or one of some common shapes that the declared pattern takes."""
    shape = schema.get("format")
    if shape == "uuid":
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{word}{number}"))
    if shape == "email":
        return f"{word}@example.com"
    pattern = schema.get("pattern")
    if shape is not None or not isinstance(pattern, str):
        return None
    try:
        compiled = re2.compile(pattern)
    except re2.error:
        return None
    shapes = (word, word.upper(), f"{number:04d}", f"{number:08d}", f"{word}-{number}", f"{word}_{number}")
    return next((text for text in shapes if compiled.search(text)), None)
