"""One evaluation, from catalog to ledger, as `skillmark eval` runs it; timed from the first skill to the last record."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import uvloop
from msgspec import Struct

from benchmarks import loader
from coordinator import policy
from coordinator.catalog import index
from coordinator.courier import Courier
from coordinator.evaluation import Evaluation
from coordinator.ledger.ledger import Ledger
from coordinator.plan import Planner
from coordinator.policy import Limits
from coordinator.run import Run
from coordinator.scorecard import Header, Stamps
from coordinator.tickets import new_run_id
from payloads import loader as payloads
from workers.wire.version import __version__

LOOPBACK = ("127.0.0.0/8",)


class Work(Struct, frozen=True, kw_only=True):
    """What is run: a *catalog*, each skill of which is asked the tasks of the *benchmark*; results go to *store*."""

    catalog: Path
    benchmark: Path
    store: str
    limits: dict[str, int] = {}


class Took(Struct, frozen=True, kw_only=True):
    """How long a run took, and how its skills were graded."""

    seconds: float
    verdicts: dict[str, int]


def run(work: Work, courier_of: Callable[[str], Courier]) -> Took:
    """Run *work* with the courier that *courier_of* makes for the run's id; it is opened before the clock starts."""
    rules = policy.load(None)
    limits = msgspec.convert(msgspec.to_builtins(rules.limits) | work.limits, Limits)
    run_id = new_run_id()
    chosen = [loader.find(str(work.benchmark), [])]
    planner = Planner(
        run_id=run_id,
        policy=rules,
        corpus=payloads.load(),
        benchmarks=chosen,
        allow_networks=LOOPBACK,
        attacks=(),
    )
    header = Header(run_id=run_id, stamps=Stamps(engine=__version__, policy=rules.digest, benchmarks={}, min_completion=0.7))
    assessment = Evaluation(header, planner, rules, groups=frozenset({chosen[0].id}), min_completion=0.7)
    ledger = Ledger.open(work.store)
    ledger.begin(run_id, mode="eval", catalog=str(work.catalog), stamps={})

    async def execute() -> Took:
        courier = courier_of(run_id)
        await courier.open()  # type: ignore[attr-defined] # of both fleets, not of the protocol
        try:
            entries = index.entries(work.catalog)
            one = Run(run_id, entries, assessment=assessment, limits=limits, ledger=ledger, courier=courier)
            started = time.perf_counter()
            verdicts: Counter[str] = await one.execute()
            return Took(seconds=time.perf_counter() - started, verdicts=dict(verdicts))
        finally:
            await courier.aclose()

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(execute())
    finally:
        ledger.end(run_id, state="ended")
        ledger.close()
