"""One evaluation, from catalog to ledger, as `skillmark eval` runs it, timed from first skill to last record."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import uvloop
from msgspec import Struct
from msgspec.structs import replace

from benchmarks import loader
from coordinator import policy
from coordinator.catalog import index
from coordinator.catalog.skill import Skill
from coordinator.courier import Courier
from coordinator.evaluation import Evaluation
from coordinator.ledger.ledger import Ledger
from coordinator.plan import Plan, Planner
from coordinator.policy import Limits
from coordinator.run import Run
from coordinator.scorecard import Header, Stamps
from coordinator.tickets import new_run_id
from workers.wire.job import QuietJob
from workers.wire.version import __version__

LOOPBACK = ("127.0.0.0/8",)


class Work(Struct, frozen=True, kw_only=True):
    """What is run: a *catalog*, each skill of which is asked the tasks of the *benchmark*; results go to *store*.

    *limits* take the place of the policy's; with *latencies* the sequential requests come after the tasks.
    """

    catalog: Path
    benchmark: Path
    store: str
    limits: dict[str, int] = {}
    latencies: bool = False


class Took(Struct, frozen=True, kw_only=True):
    """How long a run took, and how its skills were graded."""

    seconds: float
    verdicts: dict[str, int]


class _WithLatencies(Evaluation):
    def plan(self, skill: Skill) -> Plan | None:
        asked, whole = super().plan(skill), self._planner.plan(skill)
        assert asked is not None
        assert whole is not None
        quiet = (stage for stage in whole.stages if any(isinstance(job, QuietJob) for job in stage.jobs.values()))
        return replace(asked, stages=(*asked.stages, *quiet))


def run(work: Work, courier_of: Callable[[str], Courier]) -> Took:
    """Run *work* with the courier that *courier_of* makes for the run's id; it is opened before the clock starts."""
    rules = policy.load(None)
    limits = msgspec.convert(msgspec.to_builtins(rules.limits) | work.limits, Limits)
    run_id = new_run_id()
    chosen = [loader.find(str(work.benchmark), [])]
    planner = Planner(
        run_id=run_id,
        policy=rules,
        benchmarks=chosen,
        allow_networks=LOOPBACK,
        attacks=(),
    )
    header = Header(
        run_id=run_id, stamps=Stamps(engine=__version__, policy=rules.digest, benchmarks={}, min_completion=0.7)
    )
    kind = _WithLatencies if work.latencies else Evaluation
    assessment = kind(header, planner, rules, groups=frozenset({chosen[0].id}), min_completion=0.7)
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
