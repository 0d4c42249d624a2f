"""Skills that take their time: the wall time against what the cap per host and the sequential requests allow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from coordinator import policy
from coordinator.embedded import EmbeddedFleet
from coordinator.remote import RemoteFleet
from coordinator.settings import Settings
from tests.fleet import WorkerService
from tests.perf.catalog import TASKS, write_benchmark, write_catalog
from tests.perf.evaluation import Work, run
from tests.perf.row import Row
from tests.perf.target import target
from workers.wire import queues
from workers.wire.job import QuietJob

PART = "waiting"
ANSWER_S = 0.1
SKILLS, HOSTS, PROCESSES = 200, 5, 2
BOUND_MOST, LINEAR_LEAST = 1.15, 0.9
ADDED_ANSWER_S, ADDED_SKILLS, ADDED_CONCURRENCY = 0.4, 128, 8
ADDED_LIMITS = {"jobs_in_flight": ADDED_SKILLS * TASKS, "host_in_flight": 4}
"""Where processes are added: each skill on a host of its own, everything in the broker at once, few parcels at a time
in each process, and skills so slow that four processes leave the cores idle: nothing but the processes limits."""


def shortest_s(skills_a_host: int) -> float:
    """The least that any fleet could take: a host's tasks at its cap, then its sequential series as many at once."""
    cap = policy.load(None).limits.host_in_flight
    series = QuietJob(id="", probe="").requests + QuietJob(id="", probe="").warmup
    return ANSWER_S * (skills_a_host * TASKS / cap + math.ceil(skills_a_host / cap) * series)


def rows(folder: Path, broker: str, store: str) -> Iterator[Row]:
    """Every row."""
    benchmark = write_benchmark(folder / "sums.json")
    concurrency = Settings().concurrency
    with target(HOSTS, ANSWER_S) as ports:
        catalog = write_catalog(folder / "slow.jsonl", ports, SKILLS)
        work = Work(catalog=catalog, benchmark=benchmark, store=store, latencies=True)
        bound_s = shortest_s(SKILLS // HOSTS)
        embedded = run(work, lambda _: EmbeddedFleet(concurrency=concurrency))
        with WorkerService(
            broker, queues=(queues.FUNCTIONAL, queues.LATENCY), processes=PROCESSES, concurrency=concurrency
        ) as fleet:
            fleet.ready()
            remote = run(work, lambda id_: RemoteFleet(broker, id_))
    for name, took in (("embedded", embedded), (f"fleet of {PROCESSES}", remote)):
        yield Row(
            part=PART,
            name=f"{SKILLS} skills of {ANSWER_S * 1000:.0f} ms, {name}",
            figure=took.seconds,
            unit="s",
            against=f"the least possible, {bound_s:.2f} s",
            share=took.seconds / bound_s,
            most=BOUND_MOST,
        )
    yield from _added(folder, broker, store, benchmark)


def _added(folder: Path, broker: str, store: str, benchmark: Path) -> Iterator[Row]:
    """One to four processes."""
    first = 0.0
    with target(ADDED_SKILLS, ADDED_ANSWER_S) as ports:
        catalog = write_catalog(folder / "hosts.jsonl", ports, ADDED_SKILLS)
        work = Work(catalog=catalog, benchmark=benchmark, store=store, limits=ADDED_LIMITS)
        for processes in (1, 2, 4):
            with WorkerService(
                broker,
                queues=(queues.FUNCTIONAL,),
                processes=processes,
                concurrency=ADDED_CONCURRENCY,
            ) as fleet:
                fleet.ready()
                per_s = ADDED_SKILLS / run(work, lambda id_: RemoteFleet(broker, id_)).seconds
            first = first or per_s
            yield Row(
                part=PART,
                name=f"skills of {ADDED_ANSWER_S * 1000:.0f} ms, {processes} process{'es' * (processes > 1)}",
                figure=per_s,
                unit="skills/s",
                against=f"{processes} times one process",
                share=per_s / first / processes,
                least=LINEAR_LEAST if processes > 1 else None,
            )
