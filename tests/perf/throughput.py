"""Functional jobs end to end, beside the naive fleet and a bare loop of the same HTTP client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from coordinator.courier import Courier
from coordinator.embedded import EmbeddedFleet
from coordinator.remote import RemoteFleet
from tests.fleet import WorkerService
from tests.perf import bare, naive
from tests.perf.catalog import TASKS, write_benchmark, write_catalog
from tests.perf.evaluation import Work, run
from tests.perf.row import Row
from tests.perf.target import target
from workers.wire import queues

PART = "throughput"
PROCESSES = 2
PORTS = 32
"""Hosts; a place at one of them is free again when its result has come back, so some of the cap of eight wait."""
CONCURRENCY = 8
SKILLS, SINGLE_SKILLS = 500, 100
BARE_REQUESTS, NAIVE_JOBS = 30_000, 200
NAIVE_LEAST, BARE_LEAST = 10.0, 0.6


def rows(folder: Path, broker: str, stores: dict[str, str]) -> Iterator[Row]:
    """Every row, with *stores* by name; the bare loop is measured before and after and the better counts."""
    with target(PORTS) as ports:
        many = write_catalog(folder / "many.jsonl", ports, SKILLS)
        few = write_catalog(folder / "few.jsonl", ports, SINGLE_SKILLS)
        benchmark = write_benchmark(folder / "sums.json")
        bare_per_s = bare.run(bare.CLIENT, ports, BARE_REQUESTS, PROCESSES)
        adapter_per_s = bare.run(bare.ADAPTER, ports, BARE_REQUESTS, PROCESSES)
        naive_per_s = naive.run(broker, ports, NAIVE_JOBS, PROCESSES)
        found: list[tuple[str, float, bool]] = []

        def measure(name: str, catalog: Path, skills: int, courier_of: Callable[[str], Courier], parcel: int) -> None:
            for store, url in stores.items():
                work = Work(catalog=catalog, benchmark=benchmark, store=url, limits={"parcel_jobs": parcel})
                took = run(work, courier_of)
                assert took.verdicts == {"passed": skills}, took.verdicts
                found.append((f"{name}, {store}", skills * TASKS / took.seconds, parcel > 1 and name != "embedded"))

        measure("embedded", many, SKILLS, lambda _: EmbeddedFleet(concurrency=CONCURRENCY), TASKS)
        with WorkerService(broker, queues=(queues.FUNCTIONAL,), processes=PROCESSES, concurrency=CONCURRENCY) as fleet:
            fleet.ready()
            run(
                Work(catalog=few, benchmark=benchmark, store=next(iter(stores.values()))),
                lambda id_: RemoteFleet(broker, id_),
            )
            measure("fleet, parcels of 20", many, SKILLS, lambda id_: RemoteFleet(broker, id_), TASKS)
            measure("fleet, parcels of 1", few, SINGLE_SKILLS, lambda id_: RemoteFleet(broker, id_), 1)
        bare_per_s = max(bare_per_s, bare.run(bare.CLIENT, ports, BARE_REQUESTS, PROCESSES))
    yield Row(part=PART, name="bare loop of the HTTP client", figure=bare_per_s, unit="requests/s")
    yield Row(
        part=PART,
        name="bare loop of the http adapter",
        figure=adapter_per_s,
        unit="requests/s",
        against="bare loop",
        share=adapter_per_s / bare_per_s,
    )
    yield Row(part=PART, name="naive fleet", figure=naive_per_s, unit="jobs/s")
    for name, per_s, promised in found:
        share = per_s / naive_per_s
        yield Row(
            part=PART,
            name=name,
            figure=per_s,
            unit="jobs/s",
            against="naive fleet",
            share=share,
            least=NAIVE_LEAST if promised else None,
        )
        if promised:
            yield Row(
                part=PART,
                name=name,
                figure=per_s,
                unit="jobs/s",
                against="bare loop",
                share=per_s / bare_per_s,
                least=BARE_LEAST,
            )
