"""What a schema cannot say of a probe: that its parts belong together.

A placeholder is ``{name}``, ``{name|encoding}`` (also several) or, in a witness, ``{x+y}`` or ``{x*y}``; any other
brace is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from payloads.payload import CorpusError, Payload

# What the workers derive for each job; a test holds these lists and theirs together.
OPERANDS = frozenset({"x", "y", "p", "q"})
PLACEHOLDERS = OPERANDS | {
    *("a", "b", "secret", "caller", "benign_head", "benign_tail"),
    *("callback", "internal", "redirect", "example", "verbatim", "equation", "contradiction"),
}
# What a program computes from the operands: only an option called `witness` may name it.
COMPUTED = frozenset({"remainders", "filled"})
ENCODINGS = frozenset(
    {
        *("base64", "hex", "url", "rot13", "json", "tags", "zero_width", "homoglyphs", "leet"),
        *("folder", "named", "host", "without_scheme", "decimal_host", "mapped_host"),
    }
)

_PLACEHOLDER = re.compile(r"\{([a-z][a-z_]*)(?:([+*])([a-z][a-z_]*)|((?:\|[a-z0-9_]+)+))?\}")


def check(file: Path, payload: Payload) -> None:
    """Hold *payload*, read from *file*, against its place and its own texts.

    Raises:
        CorpusError: At the first contradiction.
    """
    if payload.id != file.stem:
        raise CorpusError(file, "/id", f"the file's name, {file.stem}", payload.id)
    if payload.category != file.parent.name:
        raise CorpusError(file, "/category", f"the folder's name, {file.parent.name}", payload.category)
    if payload.confirm.need > payload.confirm.replays:
        raise CorpusError(
            file, "/confirm/need", f"at most {payload.confirm.replays} replays", str(payload.confirm.need)
        )
    clash = sorted((PLACEHOLDERS | COMPUTED) & payload.pieces.keys())
    if clash:
        raise CorpusError(file, f"/pieces/{clash[0]}", "a name of its own", "a placeholder's name")
    for name, text in payload.pieces.items():
        _check_placeholders(file, f"/pieces/{name}", text, PLACEHOLDERS)
    known = PLACEHOLDERS | payload.pieces.keys()
    _check_placeholders(file, "/template", payload.template, known)
    for name, text in payload.controls.items():
        _check_placeholders(file, f"/controls/{name}", text, known | {"attack"})
    for name, value in payload.options.items():
        for pointer, text in _texts(f"/options/{name}", value):
            _check_placeholders(file, pointer, text, known | COMPUTED if pointer.endswith("/witness") else known)
    if payload.witness:
        _check_witness(file, payload)


def _texts(pointer: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(f"{pointer}/{index}", inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(f"{pointer}/{name}", inner)


def _check_placeholders(file: Path, pointer: str, text: str, known: Iterable[str]) -> None:
    for whole, name, sign, other, encodings in _placeholders(text):
        if name not in known:
            raise CorpusError(file, pointer, "one of " + ", ".join(sorted(known)), whole)
        if not ENCODINGS.issuperset(encodings.split("|")[1:]):
            raise CorpusError(file, pointer, "one of the encodings " + ", ".join(sorted(ENCODINGS)), whole)
        if sign and not {name, other} <= OPERANDS:
            raise CorpusError(file, pointer, "operands " + " and ".join(sorted(OPERANDS)), whole)


def _check_witness(file: Path, payload: Payload) -> None:
    """A witness is computed, and from nothing but what the attack says."""
    _check_placeholders(file, "/witness", payload.witness, PLACEHOLDERS)
    used = _placeholders(payload.witness)
    if not any(sign for _, _, sign, _, _ in used):
        raise CorpusError(file, "/witness", "a computed part such as {x+y}", payload.witness)
    said = payload.template + "".join(payload.pieces.values())
    needed = {name for _, first, _, second, _ in used for name in (first, second) if name}
    for name in sorted(needed):
        if f"{{{name}}}" not in said:
            raise CorpusError(file, "/witness", "only placeholders that the template names", f"{{{name}}}")
    for _, _, sign, _, _ in _placeholders(said):
        if sign:
            raise CorpusError(file, "/template", "no computed part: the skill must compute it", f"one with {sign}")


def _placeholders(text: str) -> list[tuple[str, str, str, str, str]]:
    return [
        (match[0], match[1], match[2] or "", match[3] or "", match[4] or "") for match in _PLACEHOLDER.finditer(text)
    ]
