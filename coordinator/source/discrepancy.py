"""One thing in which a source and its manifest differ, or that should not be in a source."""

from __future__ import annotations

from msgspec import Struct


class Discrepancy(Struct, frozen=True):
    """At *at* (file and line, or a JSON pointer into the manifest) *rule* is broken, and why.

    *open*: it could not be told, which earns nothing and accuses nobody.
    """

    rule: str
    severity: str
    at: str
    reason: str
    open: bool = False
