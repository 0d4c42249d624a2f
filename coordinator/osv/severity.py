"""How bad a vulnerability is: the word for its CVSS base score, else the word that its database gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cvss import CVSS2, CVSS3, CVSS4
from cvss.exceptions import CVSSError

from coordinator.osv.record import Rating

ORDER = ("unknown", "low", "medium", "high", "critical")
SYSTEMS = {"CVSS_V4": CVSS4, "CVSS_V3": CVSS3, "CVSS_V2": CVSS2}
STARTS = ((9.0, "critical"), (7.0, "high"), (4.0, "medium"), (0.1, "low"))
WORDS = {
    "critical": "critical", "high": "high", "important": "high", "moderate": "medium", "medium": "medium", "low": "low",
}  # fmt: skip
MAX_VECTOR_CHARS = 500


def worst(severities: Iterable[str]) -> str:
    """The worst that is known of *severities*."""
    return max(severities, key=ORDER.index, default="unknown")


def severity(ratings: Iterable[Rating], database_specific: Any = None) -> str:
    """Of critical, high, medium, low, unknown: by the newest CVSS vector that can be read, else by the database.

    A base score of 0.0 (CVSS: none) is low: its database still calls it a vulnerability.
    """
    known = tuple(ratings)
    for system in SYSTEMS:
        scores = (base_score(system, rating.score) for rating in known if rating.type == system)
        if (score := max((one for one in scores if one is not None), default=None)) is not None:
            return next((word for start, word in STARTS if score >= start), "low")
    told = database_specific.get("severity") if isinstance(database_specific, dict) else None
    return WORDS.get(told.strip().lower(), "unknown") if isinstance(told, str) else "unknown"


def base_score(system: str, vector: str) -> float | None:
    """The base score, 0 to 10, of a *vector* of CVSS *system*; None where it is none."""
    if len(vector) > MAX_VECTOR_CHARS:
        return None
    try:
        return float(SYSTEMS[system](vector).scores()[0])
    except (CVSSError, ArithmeticError, ValueError, KeyError, IndexError):
        return None
