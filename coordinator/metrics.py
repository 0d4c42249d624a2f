"""What the coordinator tells Prometheus. No skill and no run is a label: their number has no bound."""

from __future__ import annotations

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from coordinator.run import Concluded
from coordinator.settings import SettingsError, metrics_address
from workers.wire.job import Pillar
from workers.wire.result import Result, outcome_of

log = structlog.get_logger(__name__)


class Metrics:
    """A `Watcher` of runs that counts; the verdicts only of those that *certify*."""

    def __init__(self, registry: CollectorRegistry, *, certify: bool = True) -> None:
        self._certify = certify
        self._published = Counter(
            "skillmark_coordinator_jobs_published", "Jobs handed to the broker.", ["pillar"], registry=registry
        )
        self._ended = Counter(
            "skillmark_coordinator_jobs_ended",
            "Jobs that came back with an outcome.",
            ["pillar", "outcome"],
            registry=registry,
        )
        self._in_flight = Gauge(
            "skillmark_coordinator_jobs_in_flight", "Jobs published and not ended.", ["pillar"], registry=registry
        )
        self._certifications = Counter(
            "skillmark_certifications", "Skills that got a verdict.", ["verdict"], registry=registry
        )
        for pillar in Pillar:
            self._in_flight.labels(pillar)

    def admitted(self, jobs: int) -> None:
        """Not counted: what matters is what went out."""

    def published(self, pillar: Pillar, jobs: int) -> None:
        """Jobs went out."""
        self._published.labels(pillar).inc(jobs)
        self._in_flight.labels(pillar).inc(jobs)

    def ended(self, result: Result) -> None:
        """A job came back, or was given up."""
        self._ended.labels(result.pillar, outcome_of(result)).inc()
        self._in_flight.labels(result.pillar).dec()

    def concluded(self, concluded: Concluded) -> None:
        """A skill has its record."""
        if self._certify:
            self._certifications.labels(concluded.verdict).inc()


def serve(registry: CollectorRegistry, address: str) -> None:
    """Serve ``/metrics`` at *address*, ``HOST:PORT``, from a thread of its own.

    Raises:
        SettingsError: If nobody can listen there.
    """
    host, port = metrics_address(address)
    try:
        server, _ = start_http_server(port, addr=host, registry=registry)
    except OSError as error:
        raise SettingsError(
            f"metrics: expected an address to listen on, found {address}: {error.strerror}; choose another"
        ) from error
    log.info("metrics", host=host, port=server.server_port)
