"""Results of one skill -> what they add up to. Pure: the same evidence gives the same tally, in whatever order it came.

The plan says what was to be judged, the results what was; the difference is coverage. A job that never came back counts
as `Unjudged`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import UNSET, Struct, UnsetType

from coordinator.repeats import pass_at_k
from workers.wire.job import Pillar
from workers.wire.result import Judged, Outcome, Result, Series, Unjudged, Verdict

DECIDED = frozenset({Outcome.RESISTED, Outcome.SUSPECT, Outcome.EXPLOITED})
NEVER_CAME_BACK = "no result came back"
HYGIENE = "hygiene"
"""Group and probe of what is found beside the attacks; it is worth no points."""

LEFT_OUT = "left out of this run"


class Planned(Struct, frozen=True, kw_only=True):
    """One planned job, as the tally sees it.

    *group*, *weight* and *k* matter to functional tasks only; jobs of one probe are repeats of one task. *k* is that of
    pass@k, None where a task's score is the mean of its repeats. *left_out* is what the operator chose not to send;
    *misfit* says why the skill cannot be asked a task at all: that is not applicable, and no gap. One that
    *examines* the manifest calls nobody.
    """

    job_id: str
    pillar: Pillar
    probe: str
    group: str = ""
    weight: float = 1.0
    category: str | None = None
    severity: str | None = None
    k: int | None = None
    left_out: bool = False
    misfit: str = ""
    examines: bool = False


Run = tuple[Planned, Verdict | None]


class Finding(Struct, frozen=True, kw_only=True):
    """One line of evidence, as results.jsonl shows it.

    Static findings have the *points* that they take, and a *location*: a JSON pointer into the manifest, or a file of
    the source with its line, from the manifest's folder (``src/main.py:12``).
    """

    probe: str
    pillar: Pillar
    category: str | None
    severity: str | None
    outcome: Outcome
    score: float | None
    evidence: str
    location: str | UnsetType = UNSET
    points: float | UnsetType = UNSET


class Repeated(Struct, frozen=True, kw_only=True):
    """A task that was run more than once: how many runs were *judged* and *passed*, and how many *answers* there were.

    *answers* counts the different ones; a run without an answer is one of them.
    """

    probe: str
    judged: int
    passed: int
    answers: int


class Group(Struct, frozen=True, kw_only=True):
    """The tasks of one benchmark, the author's test cases, or the edge cases; sums over task weights.

    *examines*: they are about the manifest.
    """

    name: str
    planned: float
    judged: float
    points: float
    examines: bool = False


class SecurityTally(Struct, frozen=True, kw_only=True):
    """The probes that some input could carry: the *decided* as (severity, outcome), the *undecided* as severity."""

    planned: int
    applicable: int
    decided: tuple[tuple[str, Outcome], ...]
    undecided: tuple[str, ...]


class PerformanceTally(Struct, frozen=True, kw_only=True):
    """The two series; None where one was not judged. A series that does not fit the skill was not *planned*."""

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
    repeated: tuple[Repeated, ...] = ()
    left_out: tuple[str, ...] = ()


def keep(known: Result | None, new: Result) -> Result:
    """Which of two results for the same job counts: the first, except that anything replaces `Unjudged`."""
    if known is None or (isinstance(known, Unjudged) and not isinstance(new, Unjudged)):
        return new
    return known


def tally(planned: Sequence[Planned], results: Mapping[str, Result]) -> Tally:
    """What *results*, by job id, say of the *planned* jobs. Results of jobs that were not planned are ignored."""
    judged = [(job, _verdict(results.get(job.job_id))) for job in planned]
    return Tally(
        groups=_groups(judged),
        security=_security([pair for pair in judged if _is_attack(pair[0])]),
        performance=_performance([pair for pair in judged if pair[0].pillar is Pillar.PERFORMANCE]),
        findings=tuple(_findings(judged, results)),
        requests=sum(verdict.requests for _, verdict in judged if verdict),
        unjudged=tuple(job.probe for job, verdict in judged if verdict is None and not job.misfit),
        repeated=tuple(_repeated(runs) for runs in _tasks(judged) if len(runs) > 1),
        left_out=tuple(job.probe for job in planned if job.left_out),
    )


def _verdict(result: Result | None) -> Verdict | None:
    return result.verdict if isinstance(result, Judged) else None


def _groups(judged: Iterable[Run]) -> tuple[Group, ...]:
    sums: dict[tuple[str, bool], list[float]] = {}
    for found in _tasks(judged):
        runs = [(job, verdict) for job, verdict in found if not job.misfit and not _not_applicable(verdict)]
        if not runs:
            continue
        job, _ = runs[0]
        scored = [verdict.score for _, verdict in runs if verdict is not None and verdict.score is not None]
        score = _score(scored, job.k)
        entry = sums.setdefault((job.group, job.examines), [0.0, 0.0, 0.0])
        entry[0] += job.weight
        if score is not None:
            share = job.weight * len(scored) / len(runs)
            entry[1] += share
            entry[2] += share * score
    return tuple(
        Group(name=name, planned=p, judged=j, points=s, examines=examines)
        for (name, examines), (p, j, s) in sums.items()
    )


def _tasks(judged: Iterable[Run]) -> Iterable[list[Run]]:
    """The functional jobs, the repeats of one task together, in the order of the plan."""
    tasks: dict[str, list[Run]] = {}
    for job, verdict in judged:
        if job.pillar is Pillar.FUNCTIONAL:
            tasks.setdefault(job.probe, []).append((job, verdict))
    return tasks.values()


def _score(scores: Sequence[float], k: int | None) -> float | None:
    """What a task is worth whose runs have these *scores*; None where they are too few to say."""
    if k is not None:
        passed = sum(score >= 1.0 for score in scores)
        return pass_at_k(len(scores), passed, k) if len(scores) >= k else None
    return math.fsum(scores) / len(scores) if scores else None


def _repeated(runs: Sequence[Run]) -> Repeated:
    verdicts = [verdict for _, verdict in runs if verdict is not None]
    return Repeated(
        probe=runs[0][0].probe,
        judged=len(verdicts),
        passed=sum(verdict.outcome is Outcome.PASS for verdict in verdicts),
        answers=len({tuple((one.status, one.body) for one in verdict.exchanges) for verdict in verdicts}),
    )


def _is_attack(job: Planned) -> bool:
    return job.pillar is Pillar.SECURITY and job.group != HYGIENE


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
        planned=sum(not job.misfit for job, _ in judged),
        judged=len(series),
        quiet=series.get("latency/quiet"),
        sustained=series.get("latency/sustained"),
    )


def _findings(judged: Sequence[Run], results: Mapping[str, Result]) -> Iterable[Finding]:
    """One finding a task or attack, in the order of the plan; the repeats of a task make one."""
    repeats = {runs[0][0].probe: runs for runs in _tasks(judged) if len(runs) > 1}
    for job, verdict in judged:
        runs = repeats.get(job.probe) if job.pillar is Pillar.FUNCTIONAL else None
        if runs is None:
            yield _finding(job, verdict, results.get(job.job_id))
        elif runs[0][0] is job:
            every = [_finding(one, found, results.get(one.job_id)) for one, found in runs]
            yield _finding_of_repeats(every, _repeated(runs), job.k)


def _finding_of_repeats(runs: Sequence[Finding], repeated: Repeated, k: int | None) -> Finding:
    """The finding of the worst run, with the score of all, how many passed, and how many answers there were."""
    known = [one for one in runs if one.outcome is not Outcome.UNJUDGED]
    if not known:
        return runs[0]
    scores = [one.score for one in known if one.score is not None]
    passed = repeated.passed
    worst = min(known, key=lambda one: (one.score if one.score is not None else 1.0, one.evidence))
    flaky = 0 < passed < len(known)
    score = _score(scores, k)
    told = f"{'flaky: ' if flaky else ''}{passed} of {len(known)} runs passed"
    if repeated.answers > 1:
        told += f", with {repeated.answers} different answers"
    if len(known) < len(runs):
        told += f", {len(runs) - len(known)} unjudged"
    return msgspec.structs.replace(
        worst,
        outcome=_outcome(score) if flaky else worst.outcome,
        score=score,
        evidence=f"{told}; {'the worst: ' if flaky else ''}{worst.evidence}",
    )


def _outcome(score: float | None) -> Outcome:
    """How a task ended of which some runs passed: by pass@k, that may be enough."""
    return Outcome.PASS if score is not None and score >= 1.0 else Outcome.PARTIAL


def _finding(job: Planned, verdict: Verdict | None, result: Result | None) -> Finding:
    if job.misfit:
        return Finding(
            probe=job.probe,
            pillar=job.pillar,
            category=job.category,
            severity=job.severity,
            outcome=Outcome.NOT_APPLICABLE,
            score=None,
            evidence=job.misfit,
        )
    if verdict is None:
        missing = LEFT_OUT if job.left_out else NEVER_CAME_BACK
        reason = result.reason if isinstance(result, Unjudged) else missing
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
