"""Functional results of one skill -> the measures of its scorecard. Pure; what each means stands at `Measures`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import pstdev

from coordinator.policy import Policy
from coordinator.score import exact, functional
from coordinator.scorecard import Measures, Percentiles
from coordinator.tally import Planned, Tally
from workers.wire.percentiles import percentile
from workers.wire.result import Judged, Outcome, Result, Verdict

TROUBLE = frozenset({Outcome.ERROR, Outcome.TIMEOUT})
COMPLETION, SPEED, RELIABILITY = 0.5, 0.2, 0.3


def measure(
    planned: Sequence[Planned], results: Mapping[str, Result], added: Tally, policy: Policy, *, max_latency_ms: float
) -> Measures:
    """What the runs of the functional tasks *planned* add up to; *added* is their tally.

    Tasks that the skill cannot be asked are no part of it.
    """
    asked = [job for job in planned if not job.misfit]
    runs = [(job, verdict) for job in asked if (verdict := _verdict(results.get(job.job_id))) is not None]
    verdicts = [verdict for _, verdict in runs]
    completion = _rate(verdict.outcome is Outcome.PASS for verdict in verdicts)
    errors = _rate(verdict.outcome in TROUBLE for verdict in verdicts)
    latencies = [exchange.elapsed_ms for verdict in verdicts for exchange in verdict.exchanges]
    live = functional(added.groups, policy)
    repeats = _repeats(asked)
    return Measures(
        tasks=len({job.probe for job in asked}),
        runs=max(repeats.values(), default=0) + 1 if asked else 0,
        planned=len(asked),
        judged=len(runs),
        passed=sum(verdict.outcome is Outcome.PASS for verdict in verdicts),
        completion_rate=completion,
        partial_score=None if live.value is None else exact(live.value / 100),
        error_rate=errors,
        consistency=_consistency([(repeats[job.job_id], verdict) for job, verdict in runs]),
        latency_ms=_percentiles(latencies),
        composite=_composite(completion, errors, latencies, verdicts, max_latency_ms),
        coverage=exact(len(runs) / len(asked)) if asked else 0.0,
        groups={group.name: exact(group.points / group.judged) if group.judged else None for group in added.groups},
        flaky=tuple(one.probe for one in added.repeated if 0 < one.passed < one.judged),
    )


def _verdict(result: Result | None) -> Verdict | None:
    return result.verdict if isinstance(result, Judged) else None


def _rate(hits: Iterable[bool]) -> float | None:
    counted = list(hits)
    return exact(sum(counted) / len(counted)) if counted else None


def _repeats(planned: Sequence[Planned]) -> dict[str, int]:
    """Which repeat of its task each job is, from 0; the plan has them in this order."""
    seen: dict[str, int] = {}
    repeats = {}
    for job in planned:
        repeats[job.job_id] = seen.get(job.probe, 0)
        seen[job.probe] = repeats[job.job_id] + 1
    return repeats


def _consistency(runs: Sequence[tuple[int, Verdict]]) -> float | None:
    passes: dict[int, list[bool]] = {}
    for repeat, verdict in runs:
        passes.setdefault(repeat, []).append(verdict.outcome is Outcome.PASS)
    if len(passes) < 2:
        return None
    return exact(1 - pstdev(sum(one) / len(one) for one in passes.values()))


def _percentiles(latencies: Sequence[float]) -> Percentiles | None:
    if not latencies:
        return None
    p50, p95, p99 = (round(percentile(latencies, q), 3) for q in (0.50, 0.95, 0.99))
    return Percentiles(p50=p50, p95=p95, p99=p99)


def _composite(
    completion: float | None,
    errors: float | None,
    latencies: Sequence[float],
    verdicts: Sequence[Verdict],
    max_latency_ms: float,
) -> float | None:
    if completion is None or errors is None:
        return None
    parts = [(COMPLETION, completion), (RELIABILITY, 1 - errors)]
    if latencies:
        parts.append((SPEED, 1 - min(1.0, percentile(latencies, 0.95) / max_latency_ms)))
    elif any(verdict.requests for verdict in verdicts):
        parts.append((SPEED, 0.0))  # called, and never an answer
    return exact(math.fsum(weight * part for weight, part in parts) / math.fsum(weight for weight, _ in parts))
