"""Static evidence: 100 points, less what each deduction takes."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

FULL = 100.0


class Deduction(Struct, frozen=True):
    """*points* lost for what stands at *field*, a JSON pointer into the manifest, and why."""

    field: str
    reason: str
    points: float


class StaticEvidence(Struct, frozen=True):
    """*score* is 0 to 100: what the *deductions* leave."""

    score: float
    deductions: tuple[Deduction, ...] = ()


def evidence(deductions: Iterable[Deduction]) -> StaticEvidence:
    """The evidence that *deductions* amount to; they never take more than there is."""
    found = tuple(deductions)
    return StaticEvidence(score=max(0.0, FULL - sum(one.points for one in found)), deductions=found)
