"""Errors of the latency probe against the skills' own records, with the whole fleet saturated around it.

    python -m tests.perf.latency [--skills N]

A load of functional jobs on a fast target keeps the fleet's cores busy, while the quiet series of skills that keep
their own record (`recording_target`) are taken by the same workers, several at a time. What is compared is what
results.jsonl says: the p50 and the p95 of each skill, each sample, and whether the stated uncertainty holds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import uvloop
from msgspec import Struct

from coordinator.courier import Courier
from coordinator.embedded import EmbeddedFleet
from coordinator.remote import RemoteFleet
from tests.fleet import WorkerService
from tests.perf import cores
from tests.perf.recording_target import recording
from tests.perf.target import target
from tests.rabbitmq import PrivateRabbit
from workers.wire import queues
from workers.wire.job import Expectation, FunctionalJob, Parcel, QuietJob
from workers.wire.percentiles import percentile
from workers.wire.result import Judged, Series
from workers.wire.skill import Access, SkillRef

SERIES_AT_ONCE = 4
LOAD_PARCELS = 24
"""Parcels of 20 functional jobs under way: more than the workers can hold."""
LOAD_PORTS = 24
WITHIN = 0.95
TOGETHER = "embedded, saturated, skills on the same cores"
HOST_OF = {"http": "127.0.0.1", "https": "localhost"}  # which is the name in the certificate
CERTIFICATE = Path(__file__).parents[1] / "workers" / "adapters" / "localhost.pem"
MAX_LAG_MS = QuietJob(id="", probe="").max_lag_ms


class Compared(Struct, frozen=True):
    """One skill: its series, and its own record of the same requests in ms, by its clock and by the kernel's."""

    series: Series
    record_ms: list[float]
    kernel_ms: list[float | None]


def skill(port: int, *, scheme: str = "http") -> SkillRef:
    """A skill at *port* of this machine."""
    return SkillRef(
        id=f"skill-{port}",
        name="timed",
        version="1.0.0",
        digest=f"sha256:{port:064d}",
        access=Access(adapter="http", endpoint=f"{scheme}://{HOST_OF[scheme]}:{port}/"),
        input_schema={"type": "object"},
        example={"a": 3, "b": 4},
        allow_networks=("127.0.0.0/8", "::1/128"),
    )


async def measure(courier: Courier, load: Sequence[int], timed: Sequence[int], *, scheme: str) -> dict[int, Series]:
    """The quiet series of the skills at the ports *timed*, while functional jobs keep the ports *load* busy."""
    numbers = itertools.count()
    busy = itertools.cycle(load)
    waiting = list(timed)
    port_of: dict[str, int] = {}
    found: dict[int, Series] = {}
    left: dict[str, int] = {}

    async def publish_load() -> None:
        number, port = next(numbers), next(busy)
        jobs = tuple(
            FunctionalJob(
                id=f"load-{number}.{n}",
                probe="load",
                input={"a": 3, "b": 4},
                expectation=Expectation(evaluator="exact", expected={"value": 7}),
            )
            for n in range(20)
        )
        left[f"load-{number}"] = len(jobs)
        await courier.publish(
            Parcel(id=f"load-{number}", run_id="r", skill=skill(port), jobs=jobs, reply_to=courier.reply_to, lanes=8)
        )

    async def publish_series() -> None:
        port = waiting.pop(0)
        job = QuietJob(id=f"quiet-{port}", probe="latency/quiet")
        port_of[job.id] = port
        await courier.publish(
            Parcel(id=job.id, run_id="r", skill=skill(port, scheme=scheme), jobs=(job,), reply_to=courier.reply_to)
        )

    async def listen() -> None:
        async for batch in courier.batches():
            await batch.ack()
            for result in batch.results:
                assert isinstance(result, Judged), result
                if (port := port_of.get(result.job_id)) is not None:
                    assert result.verdict.series is not None
                    found[port] = result.verdict.series
                    if waiting:
                        await publish_series()
                    elif len(found) == len(timed):
                        return
                    continue
                parcel = result.job_id.rpartition(".")[0]
                left[parcel] -= 1
                if not left[parcel]:
                    await publish_load()

    for _ in range(LOAD_PARCELS if load else 0):
        await publish_load()
    for _ in range(min(SERIES_AT_ONCE, len(waiting))):
        await publish_series()
    await listen()
    return found


def compared(series: Series, record: Sequence[tuple[float, float | None]]) -> Compared:
    """*series* beside the skill's *record* of the requests that became its samples."""
    left = list(record)[-sum(series.tries) :]
    own = []
    for sample, lag, tries in zip(series.samples_ms, series.lag_ms, series.tries, strict=True):
        taken, left = left[:tries], left[tries:]
        # The last try counts, unless none was good enough; which of those counts, the series does not say.
        own.append(taken[-1] if lag <= MAX_LAG_MS else min(taken, key=lambda one: abs(one[0] - sample)))
    return Compared(series, [one[0] for one in own], [one[1] for one in own])


def row(name: str, skills: Sequence[Compared]) -> dict[str, Any]:
    """What is said of *skills* in the table: errors and uncertainties in ms, shares from 0 to 1."""
    percentiles = {
        q: [abs(percentile(one.series.samples_ms, q) - percentile(one.record_ms, q)) for one in skills]
        for q in (0.50, 0.95, 0.99)
    }
    samples = [abs(a - b) for one in skills for a, b in zip(one.series.samples_ms, one.record_ms, strict=True)]
    kernel = [
        abs(ours - theirs)
        for one in skills
        for ours, theirs in zip(one.series.samples_ms, one.kernel_ms, strict=True)
        if theirs is not None
    ]
    app = [abs(a - b) for one in skills for a, b in zip(one.series.app_ms, one.record_ms, strict=True)]
    held = [max(wrong) <= one.series.uncertainty_ms for one, *wrong in zip(skills, *percentiles.values(), strict=True)]
    return {
        "row": name,
        "skills": len(skills),
        "p50_error_ms": _middle(percentiles[0.50]),
        "p95_error_ms": _middle(percentiles[0.95]),
        "sample_error_ms": _middle(samples),
        "sample_error_by_kernel_ms": _middle(kernel),
        "application_error_ms": _middle(app),
        "lag_ms": _middle([lag for one in skills for lag in one.series.lag_ms]),
        "taken_again": sum(tries > 1 for one in skills for tries in one.series.tries) / len(samples),
        "flagged": sum(one.series.flagged for one in skills) / len(samples),
        "uncertainty_ms": _middle([one.series.uncertainty_ms for one in skills]),
        "uncertainty_held": sum(held) / len(held),
        "fallbacks": sum(one.series.fallbacks for one in skills),
    }


def _middle(values: Sequence[float]) -> list[float]:
    """The median and the 95th percentile of *values*."""
    return [round(percentile(values, q), 3) for q in (0.50, WITHIN)] if values else []


async def _run(courier: Courier, load: Sequence[int], timed: Sequence[int], scheme: str) -> dict[int, Series]:
    await courier.open()  # type: ignore[attr-defined] # of both fleets, not of the protocol
    try:
        return await measure(courier, load, timed, scheme=scheme)
    finally:
        await courier.aclose()


def embedded(
    name: str, skills: int, *, saturated: bool = True, secure: bool = False, together: bool = False
) -> dict[str, Any]:
    """The row of the embedded fleet: coordinator, workers and load in one process.

    *secure*: over TLS; *together*: the timed skills share the cores of the fleet.
    """
    theirs, ours = (cores.everywhere(),) * 2 if together else cores.apart()
    scheme = "https" if secure else "http"
    with ExitStack() as stack:
        with cores.on(theirs):
            own = stack.enter_context(recording(skills, tls=CERTIFICATE if secure else None))
        stack.enter_context(cores.on(ours))
        stack.enter_context(_trusted(CERTIFICATE))
        ports = stack.enter_context(target(LOAD_PORTS))
        found = uvloop.run(_run(EmbeddedFleet(), ports if saturated else [], own.ports, scheme))
        records = own.records()
    return row(name, [compared(series, records[port]) for port, series in found.items()])


def fleet(name: str, skills: int) -> dict[str, Any]:
    """The row of a fleet of two worker processes behind a RabbitMQ of their own."""
    theirs, ours = cores.apart()
    with ExitStack() as stack:
        with cores.on(theirs):
            own = stack.enter_context(recording(skills))
        stack.enter_context(cores.on(ours))
        ports = stack.enter_context(target(LOAD_PORTS))
        url = stack.enter_context(closing(PrivateRabbit().start())).vhost()
        workers = stack.enter_context(
            WorkerService(url, queues=(queues.FUNCTIONAL, queues.LATENCY), processes=2, concurrency=8)
        )
        workers.ready()
        found = uvloop.run(_run(RemoteFleet(url, "latency"), ports, own.ports, "http"))
        records = own.records()
    return row(name, [compared(series, records[port]) for port, series in found.items()])


def rows(skills: int) -> Iterator[dict[str, Any]]:
    """All rows."""
    yield embedded("embedded, idle", skills, saturated=False)
    yield embedded("embedded, saturated", skills)
    yield embedded("embedded, saturated, TLS", skills, secure=True)
    yield fleet("fleet of 2, saturated", skills)
    yield embedded(TOGETHER, skills, together=True)


@contextmanager
def _trusted(certificate: Path) -> Iterator[None]:
    before = os.environ.get("SSL_CERT_FILE")
    os.environ["SSL_CERT_FILE"] = str(certificate)
    try:
        yield
    finally:
        del os.environ["SSL_CERT_FILE"]
        if before is not None:
            os.environ["SSL_CERT_FILE"] = before


def main() -> None:
    """Print each row as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--skills", type=int, default=100)
    for one in rows(parser.parse_args().skills):
        print(json.dumps(one), flush=True)


if __name__ == "__main__":
    main()
