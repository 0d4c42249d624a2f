"""Errors of the latency probe against the skills' own records, with the whole fleet saturated around it.

    python -m tests.perf.latency [--skills N] [--fleet]

A load of functional jobs on a fast target keeps every core busy, while the quiet series of skills that keep their own
record (`recording_target`) are taken by the same workers, several at a time. What is compared is what results.jsonl
says: the p50 and the p95 of each skill, each sample, and whether the stated uncertainty holds.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from typing import Any

import uvloop
from msgspec import Struct

from coordinator.courier import Courier
from coordinator.embedded import EmbeddedFleet
from coordinator.remote import RemoteFleet
from tests.fleet import WorkerService
from tests.perf.recording_target import recording
from tests.perf.target import target
from tests.rabbitmq import PrivateRabbit
from workers.wire.job import Expectation, FunctionalJob, Parcel, QuietJob
from workers.wire.percentiles import percentile
from workers.wire.result import Judged, Series
from workers.wire.skill import Access, SkillRef

SERIES_AT_ONCE = 4
LOAD_PARCELS = 24
"""Parcels of 20 functional jobs under way: more than the workers can hold."""
LOAD_PORTS = 24
WITHIN = 0.95
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
        access=Access(adapter="http", endpoint=f"{scheme}://127.0.0.1:{port}/"),
        input_schema={"type": "object"},
        example={"a": 3, "b": 4},
        allow_networks=("127.0.0.0/8",),
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


def embedded(skills: int, *, saturated: bool = True) -> dict[str, Any]:
    """The row of the embedded fleet: coordinator, workers and load in one process."""
    with recording(skills) as own, target(LOAD_PORTS) as ports:
        found = uvloop.run(_run(EmbeddedFleet(), ports if saturated else [], own.ports, "http"))
        records = own.records()
    name = "embedded, saturated" if saturated else "embedded, idle"
    return row(name, [compared(series, records[port]) for port, series in found.items()])


def fleet(skills: int, url: str) -> dict[str, Any]:
    """The row of a fleet of two worker processes behind the RabbitMQ at *url*."""
    queues = ("skillmark.functional", "skillmark.latency")
    with (
        recording(skills) as own,
        target(LOAD_PORTS) as ports,
        WorkerService(url, queues=queues, processes=2, concurrency=8) as workers,
    ):
        workers.ready()
        found = uvloop.run(_run(RemoteFleet(url, "latency"), ports, own.ports, "http"))
        records = own.records()
    return row("fleet, saturated", [compared(series, records[port]) for port, series in found.items()])


def rows(skills: int, url: str | None) -> Iterator[dict[str, Any]]:
    """All rows; those of the fleet only with the *url* of a RabbitMQ."""
    yield embedded(skills, saturated=False)
    yield embedded(skills)
    if url:
        yield fleet(skills, url)


def main() -> None:
    """Print the rows, and each as JSON on stdout."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--skills", type=int, default=100)
    parser.add_argument("--fleet", action="store_true")
    chosen = parser.parse_args()
    with closing(PrivateRabbit()) if chosen.fleet else nullcontext() as rabbit:
        for one in rows(chosen.skills, rabbit.start().vhost() if rabbit else None):
            print(json.dumps(one), flush=True)


if __name__ == "__main__":
    main()
