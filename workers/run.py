"""run(parcel): its jobs become results. Knows no broker.

Our own failures are retried here, inside the parcel, and end as `Unjudged`: a message's retry could be swallowed by the
broker client on its way back to the queue, a result cannot.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

import msgspec
import structlog

from workers import registry
from workers.adapters._adapter import Adapter
from workers.faults import BadJob, Exhausted, FleetFault
from workers.listener import Listener
from workers.probes import discovery, edge_case, functional, hygiene, latency, security
from workers.session import Session
from workers.wire.callbacks import Callbacks
from workers.wire.job import (
    PILLAR_OF,
    DiscoverJob,
    EdgeCaseJob,
    ExamineJob,
    FunctionalJob,
    HygieneJob,
    Job,
    Parcel,
    QuietJob,
    SecurityJob,
    SustainedJob,
)
from workers.wire.result import Discovered, Judged, Result, Tool, Unjudged, Verdict
from workers.wire.skill import SkillRef

if TYPE_CHECKING:
    from workers.metrics import Metrics

TRIES = 3
BACKOFF_S = 0.2

log = structlog.get_logger(__name__)


class Adapters:
    """The adapters of one worker process, each opened when the first skill needs it; and the listener for callbacks."""

    def __init__(self, callbacks: Callbacks | None = None) -> None:
        self._open: dict[str, Adapter] = {}
        self._listener = Listener(callbacks)

    def session(self, skill: SkillRef) -> Session:
        """A session with *skill*.

        Raises:
            BadJob: If there is no such adapter.
        """
        name = skill.access.adapter
        adapter = self._open.get(name)
        if adapter is None:
            adapter = self._open[name] = registry.part("adapters", name).open()
        return Session(skill, adapter, self._listener)

    async def aclose(self) -> None:
        """Close every adapter, and the listener."""
        await self._listener.aclose()
        for adapter in self._open.values():
            await adapter.aclose()
        self._open.clear()


async def judge(job: Job, session: Session) -> Verdict | tuple[Tool, ...]:
    """Run one job to its verdict; a server that was asked for its tools to them.

    Raises:
        FleetFault: If our own side failed; nothing is known of the skill.
        BadJob: If the job can never be run here.
    """
    started = time.perf_counter()
    match job:
        case FunctionalJob():
            verdict = await functional.judge(job, session)
        case EdgeCaseJob():
            verdict = await edge_case.judge(job, session)
        case ExamineJob():
            verdict = await functional.examine(job)
        case SecurityJob():
            verdict = await security.judge(job, session)
        case HygieneJob():
            verdict = await hygiene.judge(job, session)
        case QuietJob():
            verdict = await latency.judge_quiet(job, session)
        case SustainedJob():
            verdict = await latency.judge_sustained(job, session)
        case DiscoverJob():
            found = await discovery.discover(job, session)
            if isinstance(found, tuple):
                return found
            verdict = found
    return msgspec.structs.replace(verdict, seconds=round(time.perf_counter() - started, 6))


async def run(
    parcel: Parcel, adapters: Adapters, deliver: Callable[[Result], None], metrics: Metrics | None = None
) -> None:
    """Run *parcel*; its results, one a job, are given to *deliver*, each as soon as it is known."""
    try:
        session = adapters.session(parcel.skill)
    except BadJob as error:
        for job in parcel.jobs:
            deliver(unjudged(parcel, job, str(error)))
        return
    waiting = iter(parcel.jobs)

    async def lane() -> None:
        for job in waiting:
            started = time.perf_counter()
            with metrics.running(PILLAR_OF[type(job)]) if metrics else nullcontext():
                result = await _run_job(parcel, job, session)
            if metrics:
                metrics.ended(result, time.perf_counter() - started)
            deliver(result)

    try:
        async with asyncio.TaskGroup() as lanes:
            for _ in range(min(max(1, parcel.lanes), len(parcel.jobs))):
                lanes.create_task(lane())
    finally:
        session.close()


async def _run_job(parcel: Parcel, job: Job, session: Session) -> Result:
    fault = ""
    for tries in range(TRIES):
        if tries:
            await asyncio.sleep(BACKOFF_S * 4**tries)
        try:
            found = await judge(job, session)
        except (BadJob, Exhausted) as error:
            return unjudged(parcel, job, str(error))
        except FleetFault as error:
            fault = str(error)
            log.warning("fleet fault", job=job.id, probe=job.probe, fault=fault, attempt=tries + 1)
        except Exception as error:
            # A bug of ours is our failure, never the skill's, and must not take the parcel's other jobs along.
            # Where, and not with which values: these may be attack texts or secrets.
            where = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-3:]]
            log.error("probe crashed", job=job.id, probe=job.probe, error=type(error).__name__, where=where)
            return unjudged(parcel, job, f"the probe itself failed: {type(error).__name__}: {error}")
        else:
            return _result(parcel, job, found)
    return unjudged(parcel, job, f"given up after {TRIES} tries: {fault}")


def _result(parcel: Parcel, job: Job, found: Verdict | tuple[Tool, ...]) -> Judged | Discovered:
    run_id, digest, pillar = parcel.run_id, parcel.skill.digest, PILLAR_OF[type(job)]
    if isinstance(found, tuple):
        return Discovered(
            job_id=job.id, run_id=run_id, skill_digest=digest, pillar=pillar, probe=job.probe, tools=found
        )
    return Judged(job_id=job.id, run_id=run_id, skill_digest=digest, pillar=pillar, probe=job.probe, verdict=found)


def unjudged(parcel: Parcel, job: Job, reason: str) -> Unjudged:
    """The result of a job that our own side could not run."""
    return Unjudged(
        job_id=job.id,
        run_id=parcel.run_id,
        skill_digest=parcel.skill.digest,
        pillar=PILLAR_OF[type(job)],
        probe=job.probe,
        reason=reason[:2000],
    )
