"""What a worker process tells Prometheus. No skill, host or run is a label: their number has no bound.

Made in `boot`, never at import: whether values go to shared files for several processes is read from the environment
when the first metric is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from workers.wire.job import Pillar
from workers.wire.result import Outcome, Result, outcome_of

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """Jobs by pillar and outcome, how long they took, and how many are running."""

    def __init__(self, registry: CollectorRegistry) -> None:
        jobs = Counter("skillmark_jobs", "Jobs run to an outcome.", ["pillar", "outcome"], registry=registry)
        seconds = Histogram(
            "skillmark_probe_duration_seconds",
            "Time from a job's start to its outcome.",
            ["pillar"],
            buckets=SECONDS,
            registry=registry,
        )
        running = Gauge(
            "skillmark_jobs_in_flight",
            "Jobs that are running.",
            ["pillar"],
            registry=registry,
            multiprocess_mode="livesum",
        )
        # Children are resolved once: looking labels up costs more than counting.
        self._jobs = {(pillar, outcome): jobs.labels(pillar, outcome) for pillar in Pillar for outcome in Outcome}
        self._seconds = {pillar: seconds.labels(pillar) for pillar in Pillar}
        self._running = {pillar: running.labels(pillar) for pillar in Pillar}

    @contextmanager
    def running(self, pillar: Pillar) -> Iterator[None]:
        """A job is running for as long as the context lasts, whether it ends or is cancelled."""
        self._running[pillar].inc()
        try:
            yield
        finally:
            self._running[pillar].dec()

    def ended(self, result: Result, seconds: float) -> None:
        """A job came to its outcome after *seconds*."""
        outcome = outcome_of(result)
        self._jobs[result.pillar, outcome].inc()
        self._seconds[result.pillar].observe(seconds)
