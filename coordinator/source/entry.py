"""What a source is made of: files that were read, and places that were not."""

from __future__ import annotations

from msgspec import Struct


class Entry(Struct, frozen=True):
    """One file: its *name* inside the source and its *data*."""

    name: str
    data: bytes


class Gap(Struct, frozen=True):
    """A part of the source that was not looked at, and why. *opaque*: its language is not analysed."""

    name: str
    reason: str
    opaque: bool = False
