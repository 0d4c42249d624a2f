"""JSON without its ambiguities: one reading, or `NotStrict`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import rfc8785

BYTES = 16 << 20
DEPTH = 64
DIGITS = 400


class NotStrict(Exception):
    """The file is not what two readers would read alike."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found


def read(file: Path) -> Any:
    """The JSON value in *file*: UTF-8, no member twice, no NaN or infinity, bounded in bytes, depth and digits.

    Raises:
        NotStrict: If it is anything else, or cannot be read.
    """
    try:
        with file.open("rb") as stream:
            raw = stream.read(BYTES + 1)
    except (OSError, ValueError) as error:
        raise NotStrict("a file that can be read", getattr(error, "strerror", None) or str(error)) from error
    if len(raw) > BYTES:
        raise NotStrict(f"at most {BYTES} bytes", "more")
    try:
        value = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_number,
        )
    except UnicodeDecodeError as error:
        raise NotStrict("UTF-8", f"byte 0x{raw[error.start]:02x} at {error.start}") from error
    except json.JSONDecodeError as error:
        raise NotStrict("JSON", f"{error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise NotStrict(f"nesting of at most {DEPTH}", "more") from error
    if _deeper(value, DEPTH):
        raise NotStrict(f"nesting of at most {DEPTH}", "more")
    return value


def digest(value: Any) -> str:
    """``sha256:`` over the canonical JSON of *value*.

    Raises:
        NotStrict: If it has no canonical form: integers beyond 2^53, lone surrogates.

    Source: RFC 8785.
    """
    try:
        return f"sha256:{hashlib.sha256(rfc8785.dumps(value)).hexdigest()}"
    except (rfc8785.CanonicalizationError, UnicodeError) as error:
        raise NotStrict("JSON with one canonical form (RFC 8785)", str(error)[:300]) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise NotStrict("each member of an object once", f"{name[:100]!r} twice")
        made[name] = value
    return made


def _constant(text: str) -> float:
    raise NotStrict("numbers that JSON has", text)


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise NotStrict(f"a number of at most {DIGITS} digits", str(len(text)))
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise NotStrict("a number of at most 1.8e308", text[:100])
    return number


def _deeper(document: Any, depth: int) -> bool:
    level = [document]
    for _ in range(depth):
        level = [
            child
            for value in level
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True
