"""One thing in which a source and its manifest differ, or that should not be in a source."""

from __future__ import annotations

from msgspec import Struct

from coordinator.catalog.rejection import shown
from coordinator.source.hidden_text import Hidden


class Discrepancy(Struct, frozen=True):
    """At *at* (file and line, or a JSON pointer into the manifest) *rule* is broken, and why.

    *open*: it could not be told, which earns nothing and accuses nobody.
    """

    rule: str
    severity: str
    at: str
    reason: str
    open: bool = False


def hidden_text(at: str, found: Hidden) -> Discrepancy:
    """That *found* stands at *at*."""
    says = f", which say {shown(found.says)}" if found.says else ""
    return Discrepancy("source/hidden-text", "high", at, f"{found.kind}{says}: no reader sees it")
