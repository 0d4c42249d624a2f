"""Ids of skills."""

from __future__ import annotations

import hashlib
import unicodedata

from coordinator.catalog.fields import Fields
from coordinator.catalog.rejection import Rejected, shown

MAX_SLUG_CHARS = 80


def slug(name: str) -> str:
    """An id made of *name*: lower-case words joined by hyphens, accents dropped, other scripts kept.

    A name without a letter or digit gets one made of its digest, so that two such names stay two.
    """
    plain = unicodedata.normalize("NFKD", name).casefold()
    kept = "".join(c if c.isalnum() else "" if unicodedata.combining(c) else " " for c in plain)
    words = "-".join(unicodedata.normalize("NFC", kept).split())[:MAX_SLUG_CHARS].strip("-")
    return words or f"skill-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def skill_id(fields: Fields, name: str) -> str:
    """The declared ``id``, else the slug of *name*.

    Raises:
        Rejected: If the declared one holds blanks or anything unprintable.
    """
    declared = fields.line("id")
    if any(character.isspace() for character in declared):
        raise Rejected(fields.at("id"), "an id without blanks", shown(declared))
    return declared or slug(name)
