"""Strict JSON from a skill: whatever the bytes, a value or `NotJson`."""

from __future__ import annotations

from typing import Any

import msgspec

DEPTH = 100


class NotJson(Exception):
    """The bytes are not one JSON text that we take; the message says why."""


def decoded(body: bytes) -> Any:
    """The value of *body*: strict UTF-8 (a leading byte order mark is ignored), no NaN, nested at most `DEPTH` deep.

    Raises:
        NotJson: If it is anything else.

    Source: RFC 8259.
    """
    try:
        value = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotJson(str(error)) from error
    except RecursionError as error:
        raise NotJson(f"nested deeper than {DEPTH}") from error
    level = [value]
    for _ in range(DEPTH):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return value
    raise NotJson(f"nested deeper than {DEPTH}")
