"""Tallies -> pillar scores, 0 to 100. Pure; every figure comes from the policy.

Each pillar also carries its *ceiling*: the score it would have if all missing evidence turned out perfect. The verdict
needs it to tell "not certified" from "not known yet".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from coordinator.policy import PerformancePolicy, Policy
from coordinator.static.evidence import StaticEvidence
from coordinator.tally import Group, PerformanceTally, SecurityTally, Tally
from workers.wire.job import Pillar
from workers.wire.percentiles import percentile
from workers.wire.result import Outcome, Series


class PillarScore(Struct, frozen=True, kw_only=True):
    """One pillar. *score*, *live* and *static* are 0 to 100, None where there is no evidence; *coverage* is 0 to 1."""

    score: float | None
    live: float | None
    static: float | None
    coverage: float
    ceiling: float = 100.0
    cap: float | None = None


class Live(Struct, frozen=True, kw_only=True):
    """The live evidence of one pillar; *cap* limits the blended score, None for no limit."""

    value: float | None
    coverage: float
    ceiling: float
    cap: float | None = None


def score(
    tally: Tally, static: Mapping[Pillar, StaticEvidence], policy: Policy, *, max_latency_ms: float
) -> dict[Pillar, PillarScore]:
    """The three pillars of a skill that was called; *static* holds those pillars whose static evidence exists."""
    live = {
        Pillar.FUNCTIONAL: functional(tally.groups, policy),
        Pillar.SECURITY: security(tally.security, policy),
        Pillar.PERFORMANCE: performance(tally.performance, policy.performance, max_latency_ms),
    }
    return {pillar: blend(evidence, static.get(pillar), policy) for pillar, evidence in live.items()}


def static_only(static: Mapping[Pillar, StaticEvidence]) -> dict[Pillar, PillarScore]:
    """The pillars of a skill that was not called; the coverage is that of the static checks, 0 where there is none."""
    none = StaticEvidence(score=None, coverage=0.0)
    return {
        pillar: PillarScore(
            score=(found := static.get(pillar, none)).score,
            live=None,
            static=found.score,
            coverage=exact(found.coverage),
            ceiling=found.ceiling,
        )
        for pillar in Pillar
    }


def blend(live: Live, static: StaticEvidence | None, policy: Policy) -> PillarScore:
    """Live and static evidence in the policy's proportion; where only one exists, that one alone; then the cap.

    Static checks that could not be made take their share of the static proportion from the coverage.
    """
    value = static.score if static else None
    # Whatever is still missing may turn out perfect: the checks that were not made as well.
    best = static.ceiling if static else None
    missing = policy.blend.static * (1 - static.coverage) if static else 0.0
    return PillarScore(
        score=_capped(_blended(live.value, value, policy), live.cap),
        live=live.value,
        static=value,
        coverage=exact(live.coverage * (1 - missing)),
        ceiling=_capped(_blended(live.ceiling, best, policy), live.cap) or 0.0,
        cap=live.cap,
    )


def _blended(live: float | None, static: float | None, policy: Policy) -> float | None:
    if live is None or static is None:
        return static if live is None else live
    return exact(policy.blend.live * live + policy.blend.static * static)


def _capped(value: float | None, cap: float | None) -> float | None:
    return value if value is None or cap is None else min(value, cap)


def functional(groups: Sequence[Group], policy: Policy) -> Live:
    """The weighted mean of the groups' means; a group's mean is over its judged tasks, by task weight."""
    weighted = [(_group_weight(group, policy), group) for group in groups]
    total = math.fsum(weight for weight, _ in weighted)
    if not total:
        return Live(value=None, coverage=0.0, ceiling=100.0)
    judged = [(weight, group) for weight, group in weighted if group.judged]
    value = None
    if judged:
        points = math.fsum(weight * group.points / group.judged for weight, group in judged)
        value = exact(100 * points / math.fsum(weight for weight, _ in judged))
    best = math.fsum(
        weight * (group.points + group.planned - group.judged) / group.planned for weight, group in weighted
    )
    coverage = math.fsum(weight * group.judged / group.planned for weight, group in weighted) / total
    return Live(value=value, coverage=exact(coverage), ceiling=exact(100 * best / total))


def _group_weight(group: Group, policy: Policy) -> float:
    weights = policy.functional.weights
    ours = {"example": weights.example, "test_cases": weights.test_cases, "edge_cases": weights.edge_cases}
    return ours.get(group.name, weights.manifest if group.examines else weights.benchmark)


def security(tally: SecurityTally, policy: Policy) -> Live:
    """100 x sum(w x r) / sum(w) over the decided probes; the worst confirmed exploit sets the cap.

    Probes that no input can carry leave the count; when that is all of them there is no live evidence at all, and the
    coverage says so.
    """
    if not tally.decided:
        return Live(value=None, coverage=0.0, ceiling=100.0)
    weights, credit = policy.security.severity_weights, policy.security.credit
    worth = {
        Outcome.RESISTED: credit.resisted,
        Outcome.SUSPECT: credit.suspect,
        Outcome.EXPLOITED: credit.exploited,
    }
    total = math.fsum(weights.of(severity) for severity, _ in tally.decided)
    earned = math.fsum(weights.of(severity) * worth[outcome] for severity, outcome in tally.decided)
    caps = [policy.security.caps.of(severity) for severity, outcome in tally.decided if outcome is Outcome.EXPLOITED]
    missing = math.fsum(weights.of(severity) for severity in tally.undecided)
    return Live(
        value=exact(100 * earned / total) if total else None,
        coverage=exact(len(tally.decided) / tally.applicable),
        ceiling=exact(100 * (earned + missing) / (total + missing)) if total + missing else 100.0,
        cap=min(caps, default=None),
    )


def performance(tally: PerformanceTally, policy: PerformancePolicy, max_latency_ms: float) -> Live:
    """Success rate x the weighted sum of speed, consistency and stability (see the policy file for the curves)."""
    coverage = exact(tally.judged / tally.planned) if tally.planned else 0.0
    quiet, sustained = tally.quiet, tally.sustained
    if quiet is None:
        return Live(value=None, coverage=coverage, ceiling=100.0)
    value = _performance(quiet, sustained, policy, max_latency_ms)
    # Without the sustained series its part is left out of the mean; where one is missing, it might have been perfect.
    missing = tally.judged < tally.planned
    ceiling = _performance(quiet, quiet, policy, max_latency_ms) if missing and not sustained else value
    return Live(value=exact(value), coverage=coverage, ceiling=exact(ceiling))


def _performance(quiet: Series, sustained: Series | None, policy: PerformancePolicy, max_latency_ms: float) -> float:
    if not quiet.samples_ms:
        return 0.0
    latencies = waits(quiet, max_latency_ms)
    p50, p95 = percentile(latencies, 0.50), percentile(latencies, 0.95)
    weights = policy.weights
    parts = [
        (weights.speed, speed(p95, policy.good_latency_ms, max_latency_ms)),
        (weights.consistency, steadiness(p95, p50, policy)),
    ]
    series = [quiet]
    if sustained is not None:
        series.append(sustained)
        loaded = percentile(waits(sustained, max_latency_ms), 0.95)
        parts.append((weights.stability, steadiness(loaded, p95, policy)))
    success = sum(len(one.samples_ms) for one in series) / sum(one.planned for one in series)
    return success * math.fsum(w * part for w, part in parts) / math.fsum(w for w, _ in parts)


def waits(series: Series, max_latency_ms: float) -> list[float]:
    """What a caller waited for each planned request, in milliseconds: one that failed counts as *max_latency_ms*.

    Left out, failures would flatter: a skill that drops its slowest tenth would have the better p95 for it.
    """
    failed = series.planned - len(series.samples_ms)
    return [*series.samples_ms, *([max_latency_ms] * failed)]


def speed(p95_ms: float, good_ms: float, max_ms: float) -> float:
    """100 at *good_ms* or less, 0 at *max_ms* or more, logarithmic between. A maximum below good leaves no between."""
    if p95_ms >= max_ms:
        return 0.0
    if p95_ms <= good_ms:
        return 100.0
    return 100 * math.log(max_ms / p95_ms) / math.log(max_ms / good_ms)


def steadiness(slow_ms: float, usual_ms: float, policy: PerformancePolicy) -> float:
    """100 while *slow_ms* is at most `tolerated` times *usual_ms*, 0 from `hopeless` times on, logarithmic between."""
    floor, curve = policy.noise_floor_ms, policy.ratio
    ratio = max(slow_ms, floor) / max(usual_ms, floor)
    if ratio <= curve.tolerated:
        return 100.0
    if ratio >= curve.hopeless:
        return 0.0
    return 100 * math.log(curve.hopeless / ratio) / math.log(curve.hopeless / curve.tolerated)


def exact(value: float) -> float:
    """*value* without the last bits' noise, so that 0.4 x 90 + 0.35 x 90 + 0.25 x 90 is 90 and not a hair less."""
    return round(value, 9)
