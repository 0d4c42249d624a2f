"""Makers of plans and results for the reducers' tests."""

from __future__ import annotations

from coordinator.tally import Planned
from workers.wire.job import Pillar
from workers.wire.result import Judged, Outcome, Series, Unjudged, Verdict


def series(samples: list[float], *, planned: int | None = None, timeouts: int = 0) -> Series:
    planned = len(samples) if planned is None else planned
    return Series(
        planned=planned,
        samples_ms=tuple(samples),
        app_ms=tuple(samples),
        failures=planned - len(samples) - timeouts,
        timeouts=timeouts,
        clock="kernel",
        uncertainty_ms=0.1,
    )


def task(name: str, *, group: str = "test_cases", weight: float = 1.0) -> Planned:
    return Planned(job_id=name, pillar=Pillar.FUNCTIONAL, probe=name, group=group, weight=weight)


def attack(name: str, severity: str = "high") -> Planned:
    return Planned(job_id=name, pillar=Pillar.SECURITY, probe=name, category="prompt_injection", severity=severity)


QUIET = Planned(job_id="quiet", pillar=Pillar.PERFORMANCE, probe="latency/quiet")
SUSTAINED = Planned(job_id="sustained", pillar=Pillar.PERFORMANCE, probe="latency/sustained")


def judged(planned: Planned, outcome: Outcome, score: float | None = None, *, samples: Series | None = None) -> Judged:
    return Judged(
        job_id=planned.job_id,
        run_id="run",
        skill_digest="digest",
        pillar=planned.pillar,
        probe=planned.probe,
        verdict=Verdict(
            outcome=outcome, score=score, severity=planned.severity, series=samples, evidence="seen", requests=1
        ),
    )


def unjudged(planned: Planned, reason: str = "worker lost") -> Unjudged:
    return Unjudged(
        job_id=planned.job_id,
        run_id="run",
        skill_digest="digest",
        pillar=planned.pillar,
        probe=planned.probe,
        reason=reason,
    )
