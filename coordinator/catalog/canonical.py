"""The digest of a manifest: SHA-256 over its canonical JSON (RFC 8785).

RFC 8785 knows numbers as IEEE doubles only and the library refuses whole numbers beyond 2**53 - 1. Manifests do hold
such numbers (the greatest 64-bit number as a ``maximum``), so they are read as the double nearest to them, as the RFC
has it; refusing them would refuse honest skills.
"""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785

EXACT = 2**53 - 1


def canonical(document: Any) -> bytes:
    """The canonical JSON of *document*, which has passed `documents.check`."""
    return rfc8785.dumps(_as_doubles(document))


def digest(document: Any) -> str:
    """``sha256:`` and 64 hex digits over the canonical JSON of *document*, which has passed `documents.check`."""
    return "sha256:" + hashlib.sha256(canonical(document)).hexdigest()


def _as_doubles(value: Any) -> Any:
    match value:
        case bool():
            return value
        case int():
            return value if -EXACT <= value <= EXACT else float(value)
        case list():
            return [_as_doubles(item) for item in value]
        case dict():
            return {name: _as_doubles(item) for name, item in value.items()}
        case _:
            return value
