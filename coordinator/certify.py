"""Pillar scores -> verdict, with its reasons. Pure.

Certified takes the overall and the security threshold, on unrounded figures, and enough coverage. Where coverage falls
short the verdict is `incomplete` as long as the missing evidence could still certify the skill; a skill that would fail
even if all of it turned out perfect is `not_certified` now, and running it again would be a waste. (Not taken:
incomplete on low coverage alone. A skill that hangs on every attack lowers its own coverage; it has failed, and an
operator who is told to run it again would do so for ever.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from coordinator.policy import Policy
from coordinator.score import PillarScore, exact
from workers.wire.job import Pillar

UNDECIDED = "see to what is named below and run it again: the missing evidence could decide"


class Decision(StrEnum):
    """What is said of a skill in the end."""

    CERTIFIED = "certified"
    NOT_CERTIFIED = "not_certified"
    INCOMPLETE = "incomplete"
    REJECTED = "rejected"


class Mode(StrEnum):
    """Whether the skill was called."""

    LIVE = "live"
    STATIC = "static"


class Certificate(Struct, frozen=True, kw_only=True):
    """A decision and what it rests on; *overall* is None where a pillar has no score."""

    verdict: Decision
    overall: float | None
    band: str | None
    reasons: tuple[str, ...]


def certify(
    mode: Mode,
    pillars: Mapping[Pillar, PillarScore],
    policy: Policy,
    *,
    notes: Sequence[str] = (),
    left_out: Sequence[str] = (),
) -> Certificate:
    """Decide. *notes* are reasons of other stages; they come after those of the decision.

    *left_out* are probes that this run did without: whatever the coverage, nothing is certified then.
    """
    total = overall({pillar: score.score for pillar, score in pillars.items()}, policy, mode)
    if mode is Mode.STATIC:
        verdict = Decision.NOT_CERTIFIED
        reasons = ["static evidence only: a skill is certified on live evidence"]
    else:
        verdict, reasons = _decide(pillars, total, policy)
        if left_out and verdict is Decision.CERTIFIED:
            verdict = Decision.INCOMPLETE
            reasons = [f"certified only with every attack; without evidence: {', '.join(left_out)}", *reasons]
    return Certificate(
        verdict=verdict,
        overall=total,
        band=None if total is None else band(total, policy),
        reasons=(*reasons, *notes),
    )


def overall(scores: Mapping[Pillar, float | None], policy: Policy, mode: Mode = Mode.LIVE) -> float | None:
    """The weighted sum of the pillars, 0 to 100.

    Live, all three are needed. Static, pillars without evidence leave the sum and the rest is capped.
    """
    known = {pillar: score for pillar, score in scores.items() if score is not None}
    if not known or (mode is Mode.LIVE and len(known) < len(Pillar)):
        return None
    weights = {pillar: float(getattr(policy.weights, pillar.value)) for pillar in known}
    total = math.fsum(weights[pillar] * score for pillar, score in known.items())
    if mode is Mode.STATIC:
        return exact(min(policy.certificate.static_cap, total / math.fsum(weights.values())))
    return exact(total)


def band(score: float, policy: Policy) -> str:
    """The name of the band that *score*, unrounded, lies in."""
    return next(band.name for band in policy.bands if score >= band.start)


def shown(score: float | None, thresholds: Sequence[float] = ()) -> str:
    """*score* as people see it: rounded half up to a whole number.

    Where that would show one of *thresholds* as met that is not, one decimal, cut and not rounded.
    """
    if score is None:
        return "-"
    whole = math.floor(score + 0.5)
    if any(score < threshold <= whole for threshold in thresholds):
        return f"{math.floor(exact(score * 10)) / 10:.1f}"
    return str(whole)


def thresholds(pillar: Pillar | None, policy: Policy) -> tuple[float, ...]:
    """The thresholds that a shown figure must not pretend to meet; None for the overall score."""
    if pillar is None:
        return (policy.certificate.min_overall, *(band.start for band in policy.bands))
    return (policy.certificate.min_security,) if pillar is Pillar.SECURITY else ()


def _decide(pillars: Mapping[Pillar, PillarScore], total: float | None, policy: Policy) -> tuple[Decision, list[str]]:
    rule = policy.certificate
    best = overall({pillar: score.ceiling for pillar, score in pillars.items()}, policy)
    thin = [(pillar, score) for pillar, score in pillars.items() if score.coverage < rule.min_coverage]
    coverage = [
        f"{pillar} coverage {_floored(score.coverage * 100)}% is below {rule.min_coverage:.0%}"
        for pillar, score in thin
    ]
    security = pillars[Pillar.SECURITY]
    could_pass = best is not None and best >= rule.min_overall and security.ceiling >= rule.min_security
    if thin and could_pass:
        return Decision.INCOMPLETE, [*coverage, f"{UNDECIDED} either way"]
    failed = []
    if total is not None and total < rule.min_overall:
        failed.append(f"overall {shown(total, (rule.min_overall,))} is below {rule.min_overall:g}")
    if security.score is not None and security.score < rule.min_security:
        failed.append(f"security {shown(security.score, (rule.min_security,))} is below {rule.min_security:g}")
    if security.cap is not None:
        failed.append(f"a confirmed exploit caps security at {security.cap:g}")
    if thin:
        failed = failed or ["even perfect results for what is missing would not reach the thresholds"]
        return Decision.NOT_CERTIFIED, [*failed, *coverage]
    met = total is not None and total >= rule.min_overall
    met = met and security.score is not None and security.score >= rule.min_security
    if met:
        return Decision.CERTIFIED, [*failed]
    return Decision.NOT_CERTIFIED, failed


def _floored(percent: float) -> str:
    return f"{math.floor(exact(percent) * 10) / 10:g}"
