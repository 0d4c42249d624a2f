"""Catalogs of a thousand and of ten thousand skills: the coordinator's memory and its time for each skill.

And a ledger that holds a million results already. The skills are answered in memory: what is measured is planning,
scheduling, collecting and the ledger.

    python -m tests.perf.scale CATALOG BENCHMARK STORE

runs one evaluation and prints seconds and peak memory; in a process of its own, since a peak never goes down.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from coordinator.courier import Batch, Depth
from coordinator.ledger.ledger import Ledger
from tests.perf.catalog import TASKS, write_benchmark, write_catalog
from tests.perf.evaluation import Work, run
from tests.perf.row import Row
from workers.wire import parcels
from workers.wire.job import PILLAR_OF, Parcel, Pillar
from workers.wire.result import Exchange, Judged, Outcome, Result, Verdict

PART = "scale"
SMALL, LARGE = 1_000, 10_000
MEMORY_MOST, TIME_MOST = 1.2, 1.2
LEDGER_RESULTS, LEDGER_BATCH = 1_000_000, 500


def answered(job_id: str, run_id: str, digest: str, probe: str, pillar: Pillar = Pillar.FUNCTIONAL) -> Judged:
    """A result as a worker sends it."""
    exchange = Exchange(step="call", status=200, body='{"result": 7}', elapsed_ms=1.0)
    verdict = Verdict(outcome=Outcome.PASS, score=1.0, evidence="as expected", requests=1, exchanges=(exchange,))
    return Judged(job_id=job_id, run_id=run_id, skill_digest=digest, pillar=pillar, probe=probe, verdict=verdict)


class Answering:
    """A courier that answers every parcel itself, through the bytes that a fleet would send."""

    reply_to = "skillmark.results.scale"

    def __init__(self) -> None:
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()

    async def open(self) -> None:
        """Nothing to do."""

    async def publish(self, parcel: Parcel) -> None:
        """Answer *parcel*."""
        parcel = parcels.decode(parcels.encode(parcel, "skillmark.functional")).args[0]
        digest, run_id = parcel.skill.digest, parcel.run_id
        results = [answered(job.id, run_id, digest, job.probe, PILLAR_OF[type(job)]) for job in parcel.jobs]
        for body in parcels.encode_results(results):
            self._arrived.put_nowait(body)

    async def batches(self) -> AsyncIterator[Batch]:
        """What came, some 500 results at a time."""
        while True:
            bodies = [await self._arrived.get()]
            while len(bodies) < 25 and not self._arrived.empty():
                bodies.append(self._arrived.get_nowait())
            found = [parcels.decode_result(line) for body in bodies for line in parcels.lines_of(body)]
            yield Batch(tuple(found), _nothing)

    async def depths(self) -> dict[str, Depth]:
        """Nothing waits."""
        return {}

    async def backlog(self) -> bool:
        """Nothing waits."""
        return False

    async def aclose(self, *, finished: bool = True) -> None:
        """Nothing to do."""


async def _nothing() -> None:
    """There is nothing to acknowledge."""


def rows(folder: Path) -> Iterator[Row]:
    """Every row."""
    benchmark = write_benchmark(folder / "sums.json")
    small_s, small_mib = _apart(write_catalog(folder / "small.jsonl", range(8001, 8501), SMALL), benchmark, folder)
    large_s, large_mib = _apart(write_catalog(folder / "large.jsonl", range(8001, 8501), LARGE), benchmark, folder)
    yield Row(part=PART, name=f"{SMALL:,} skills, peak memory", figure=small_mib, unit="MiB")
    yield Row(
        part=PART,
        name=f"{LARGE:,} skills, peak memory",
        figure=large_mib,
        unit="MiB",
        against=f"{SMALL:,} skills",
        share=large_mib / small_mib,
        most=MEMORY_MOST,
    )
    yield Row(part=PART, name=f"{SMALL:,} skills, time for each", figure=small_s / SMALL * 1000, unit="ms")
    yield Row(
        part=PART,
        name=f"{LARGE:,} skills, time for each",
        figure=large_s / LARGE * 1000,
        unit="ms",
        against=f"{SMALL:,} skills",
        share=large_s / LARGE / (small_s / SMALL),
        most=TIME_MOST,
    )


def ledger_rows(stores: dict[str, str]) -> Iterator[Row]:
    """Results written into each of *stores*: the last tenth of a million beside the second, when files have grown.

    By the median batch: now and then one waits for a disk, whatever the ledger holds.
    """
    for name, url in stores.items():
        ledger = Ledger.open(url)
        tenth = LEDGER_RESULTS // 10
        per_s = []
        for number in range(10):
            run_id = f"run-{number}"
            ledger.begin(run_id, mode="eval", catalog="many", stamps={})
            batches = _batches(run_id, tenth)
            took_s = []
            for batch in batches:
                started = perf_counter()
                ledger.save(run_id, batch, ())
                took_s.append(perf_counter() - started)
            per_s.append(LEDGER_BATCH / median(took_s))
        ledger.close()
        second, last = per_s[1], per_s[-1]
        yield Row(part=PART, name=f"ledger, {name}, second {tenth:,} results", figure=second, unit="results/s")
        yield Row(
            part=PART,
            name=f"ledger, {name}, last {tenth:,} of {LEDGER_RESULTS:,}",
            figure=last,
            unit="results/s",
            against="the second",
            share=last / second,
            least=1 / TIME_MOST,
        )


def _batches(run_id: str, count: int) -> list[list[Result]]:
    results: list[Result] = [
        answered(f"{run_id}-{number * 7919 % count:032d}", run_id, f"sha256:{number // TASKS:064d}", "sums/sum-1")
        for number in range(count)
    ]
    return [results[at : at + LEDGER_BATCH] for at in range(0, count, LEDGER_BATCH)]


def _apart(catalog: Path, benchmark: Path, folder: Path) -> tuple[float, float]:
    """Seconds and MiB of one evaluation in a process of its own."""
    store = f"sqlite:///{folder / catalog.stem}.sqlite"
    answer = subprocess.run(
        [sys.executable, "-m", "tests.perf.scale", catalog, benchmark, store], stdout=subprocess.PIPE, check=True
    )
    seconds, mib = json.loads(answer.stdout)
    return seconds, mib


def _main(catalog: str, benchmark: str, store: str) -> None:
    took = run(Work(catalog=Path(catalog), benchmark=Path(benchmark), store=store), lambda _: Answering())
    print(json.dumps([took.seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
