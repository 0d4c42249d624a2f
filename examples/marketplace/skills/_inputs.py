"""What the skills ask of their inputs. Every refusal is a `BadInput`, which the server answers with 400."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


class BadInput(ValueError):
    """Inputs that a skill cannot work with; the message is for the caller."""


def only(inputs: dict[str, Any], *names: str) -> None:
    """Refuse inputs that nobody declared.

    Raises:
        BadInput: If *inputs* has a key outside *names*.
    """
    unknown = sorted(set(inputs) - set(names))
    if unknown:
        raise BadInput(f"unknown input {unknown[0][:80]!r}; this skill takes: {', '.join(names)}")


def text(inputs: dict[str, Any], name: str, *, longest: int) -> str:
    """The string *name*, not blank and of at most *longest* characters.

    Raises:
        BadInput: If it is anything else.
    """
    value = inputs.get(name)
    if not isinstance(value, str):
        raise BadInput(f"{name!r} must be a string")
    if not value.strip():
        raise BadInput(f"{name!r} must not be blank")
    if len(value) > longest:
        raise BadInput(f"{name!r} must have at most {longest} characters, got {len(value)}")
    return value


def choice(inputs: dict[str, Any], name: str, options: Collection[str]) -> str:
    """The string *name*, one of *options*.

    Raises:
        BadInput: If it is anything else.
    """
    value = inputs.get(name)
    if not isinstance(value, str) or value not in options:
        raise BadInput(f"{name!r} must be one of: {', '.join(sorted(options))}")
    return value
