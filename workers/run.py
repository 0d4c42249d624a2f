"""run(parcel) -> results. Knows no broker.

Our own failures are retried here, inside the parcel, and end as `Unjudged`: a message's retry could be swallowed by the
broker client on its way back to the queue, a result cannot.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import nullcontext

import msgspec
import structlog

from workers import registry
from workers.adapters._adapter import Adapter
from workers.faults import BadJob, FleetFault
from workers.metrics import Metrics
from workers.probes import functional, latency, security
from workers.session import Session
from workers.wire.job import PILLAR_OF, FunctionalJob, Job, Parcel, QuietJob, SecurityJob, SustainedJob
from workers.wire.result import Judged, Result, Unjudged, Verdict
from workers.wire.skill import SkillRef

TRIES = 3
BACKOFF_S = 0.2

log = structlog.get_logger(__name__)


class Adapters:
    """The adapters of one worker process, each opened when the first skill needs it."""

    def __init__(self) -> None:
        self._open: dict[str, Adapter] = {}

    def session(self, skill: SkillRef) -> Session:
        """A session with *skill*.

        Raises:
            BadJob: If there is no such adapter.
        """
        name = skill.access.adapter
        adapter = self._open.get(name)
        if adapter is None:
            adapter = self._open[name] = registry.part("adapters", name).open()
        return Session(skill, adapter)

    async def aclose(self) -> None:
        """Close every adapter."""
        for adapter in self._open.values():
            await adapter.aclose()
        self._open.clear()


async def judge(job: Job, session: Session) -> Verdict:
    """Run one job to its verdict.

    Raises:
        FleetFault: If our own side failed; nothing is known of the skill.
        BadJob: If the job can never be run here.
    """
    started = time.perf_counter()
    match job:
        case FunctionalJob():
            verdict = await functional.judge(job, session)
        case SecurityJob():
            verdict = await security.judge(job, session)
        case QuietJob():
            verdict = await latency.judge_quiet(job, session)
        case SustainedJob():
            verdict = await latency.judge_sustained(job, session)
    return msgspec.structs.replace(verdict, seconds=round(time.perf_counter() - started, 6))


async def run(parcel: Parcel, adapters: Adapters, metrics: Metrics | None = None) -> AsyncIterator[Result]:
    """The results of *parcel*, one a job, each as soon as it is known."""
    try:
        session = adapters.session(parcel.skill)
    except BadJob as error:
        for job in parcel.jobs:
            yield unjudged(parcel, job, str(error))
        return
    lanes = asyncio.Semaphore(max(1, parcel.lanes))

    async def one(job: Job) -> Result:
        async with lanes:
            started = time.perf_counter()
            with metrics.running(PILLAR_OF[type(job)]) if metrics else nullcontext():
                result = await _run_job(parcel, job, session)
            if metrics:
                metrics.ended(result, time.perf_counter() - started)
            return result

    tasks = [asyncio.ensure_future(one(job)) for job in parcel.jobs]
    try:
        for done in asyncio.as_completed(tasks):
            yield await done
    finally:
        for task in tasks:
            task.cancel()


async def _run_job(parcel: Parcel, job: Job, session: Session) -> Result:
    fault = ""
    for tries in range(TRIES):
        if tries:
            await asyncio.sleep(BACKOFF_S * 4**tries)
        try:
            verdict = await judge(job, session)
        except BadJob as error:
            return unjudged(parcel, job, str(error))
        except FleetFault as error:
            fault = str(error)
            log.warning("fleet fault", job=job.id, probe=job.probe, fault=fault, attempt=tries + 1)
        except Exception as error:
            # A bug of ours is our failure, never the skill's, and must not take the parcel's other jobs along.
            log.exception("probe crashed", job=job.id, probe=job.probe)
            return unjudged(parcel, job, f"the probe itself failed: {type(error).__name__}: {error}")
        else:
            return Judged(
                job_id=job.id,
                run_id=parcel.run_id,
                skill_digest=parcel.skill.digest,
                pillar=PILLAR_OF[type(job)],
                probe=job.probe,
                verdict=verdict,
            )
    return unjudged(parcel, job, f"given up after {TRIES} tries: {fault}")


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
