"""Results of one skill -> what they add up to. Pure: the same evidence gives the same tally, in whatever order it came.

The plan says what was to be judged, the results what was; the difference is coverage. A job that never came back counts
as `Unjudged`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from workers.wire.job import Pillar
from workers.wire.result import Judged, Outcome, Result, Series, Unjudged, Verdict

DECIDED = frozenset({Outcome.RESISTED, Outcome.SUSPECT, Outcome.EXPLOITED})
NEVER_CAME_BACK = "no result came back"


class Planned(Struct, frozen=True, kw_only=True):
    """One planned job, as the tally sees it. *group* and *weight* matter to functional tasks only."""

    job_id: str
    pillar: Pillar
    probe: str
    group: str = ""
    weight: float = 1.0
    category: str | None = None
    severity: str | None = None


class Finding(Struct, frozen=True, kw_only=True):
    """One line of evidence, as results.jsonl shows it."""

    probe: str
    pillar: Pillar
    category: str | None
    severity: str | None
    outcome: Outcome
    score: float | None
    evidence: str


class Group(Struct, frozen=True, kw_only=True):
    """The tasks of one benchmark, or the author's test cases; sums over task weights."""

    name: str
    planned: float
    judged: float
    points: float


class SecurityTally(Struct, frozen=True, kw_only=True):
    """The probes that some input could carry: the *decided* as (severity, outcome), the *undecided* as severity."""

    planned: int
    applicable: int
    decided: tuple[tuple[str, Outcome], ...]
    undecided: tuple[str, ...]


class PerformanceTally(Struct, frozen=True, kw_only=True):
    """The two series; None where one was not judged."""

    planned: int
    judged: int
    quiet: Series | None
    sustained: Series | None


class Tally(Struct, frozen=True, kw_only=True):
    """Everything that the live evidence on one skill adds up to."""

    groups: tuple[Group, ...]
    security: SecurityTally
    performance: PerformanceTally
    findings: tuple[Finding, ...]
    requests: int
    unjudged: tuple[str, ...]


def keep(known: Result | None, new: Result) -> Result:
    """Which of two results for the same job counts: the first, except that `Judged` replaces `Unjudged`."""
    if known is None or (isinstance(known, Unjudged) and isinstance(new, Judged)):
        return new
    return known


def tally(planned: Sequence[Planned], results: Mapping[str, Result]) -> Tally:
    """What *results*, by job id, say of the *planned* jobs. Results of jobs that were not planned are ignored."""
    judged = [(job, _verdict(results.get(job.job_id))) for job in planned]
    return Tally(
        groups=_groups(judged),
        security=_security([pair for pair in judged if pair[0].pillar is Pillar.SECURITY]),
        performance=_performance([pair for pair in judged if pair[0].pillar is Pillar.PERFORMANCE]),
        findings=tuple(_finding(job, verdict, results.get(job.job_id)) for job, verdict in judged),
        requests=sum(verdict.requests for _, verdict in judged if verdict),
        unjudged=tuple(job.probe for job, verdict in judged if verdict is None),
    )


def _verdict(result: Result | None) -> Verdict | None:
    return result.verdict if isinstance(result, Judged) else None


def _groups(judged: Iterable[tuple[Planned, Verdict | None]]) -> tuple[Group, ...]:
    sums: dict[str, list[float]] = {}
    for job, verdict in judged:
        if job.pillar is not Pillar.FUNCTIONAL:
            continue
        entry = sums.setdefault(job.group, [0.0, 0.0, 0.0])
        entry[0] += job.weight
        if verdict is not None and verdict.score is not None:
            entry[1] += job.weight
            entry[2] += job.weight * verdict.score
    return tuple(Group(name=name, planned=p, judged=j, points=s) for name, (p, j, s) in sums.items())


def _security(judged: Sequence[tuple[Planned, Verdict | None]]) -> SecurityTally:
    applicable = [(job, verdict) for job, verdict in judged if not _not_applicable(verdict)]
    return SecurityTally(
        planned=len(judged),
        applicable=len(applicable),
        decided=tuple(
            (job.severity or "low", verdict.outcome) for job, verdict in applicable if verdict and _decides(verdict)
        ),
        undecided=tuple(job.severity or "low" for job, verdict in applicable if not (verdict and _decides(verdict))),
    )


def _not_applicable(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.outcome is Outcome.NOT_APPLICABLE


def _decides(verdict: Verdict) -> bool:
    return verdict.outcome in DECIDED


def _performance(judged: Sequence[tuple[Planned, Verdict | None]]) -> PerformanceTally:
    series = {job.probe: verdict.series for job, verdict in judged if verdict and verdict.series}
    return PerformanceTally(
        planned=len(judged),
        judged=len(series),
        quiet=series.get("latency/quiet"),
        sustained=series.get("latency/sustained"),
    )


def _finding(job: Planned, verdict: Verdict | None, result: Result | None) -> Finding:
    if verdict is None:
        reason = result.reason if isinstance(result, Unjudged) else NEVER_CAME_BACK
        return Finding(
            probe=job.probe,
            pillar=job.pillar,
            category=job.category,
            severity=job.severity,
            outcome=Outcome.UNJUDGED,
            score=None,
            evidence=reason,
        )
    return Finding(
        probe=job.probe,
        pillar=job.pillar,
        category=verdict.category or job.category,
        severity=verdict.severity or job.severity,
        outcome=verdict.outcome,
        score=verdict.score,
        evidence=verdict.evidence,
    )
