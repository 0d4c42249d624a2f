"""One run: a catalog in, a record for each skill out.

Reads the catalog only as far as the schedule has room, publishes what may go, takes in results, and reduces a skill as
soon as its last job has ended; so memory holds the skills under way and nothing else.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Iterator
from typing import Protocol

import msgspec
import structlog
from msgspec import Struct

from coordinator import record
from coordinator.catalog.skill import Entry, Rejection, Skill
from coordinator.certify import Decision, Mode, certify
from coordinator.courier import Courier
from coordinator.ledger.ledger import Ledger
from coordinator.overdue import Overdue
from coordinator.plan import Plan, Planner
from coordinator.policy import Policy
from coordinator.reasons import explain
from coordinator.record import Header, Record
from coordinator.schedule import Dispatch, Schedule
from coordinator.score import score, static_only
from coordinator.static import manifest
from coordinator.static.evidence import StaticEvidence
from coordinator.tally import Finding, keep, tally
from workers.wire.job import PILLAR_OF, Job, Parcel, Pillar
from workers.wire.queues import results_queue
from workers.wire.result import Outcome, Result, Unjudged

TICK_S = 1.0

log = structlog.get_logger(__name__)


class Watcher(Protocol):
    """Who is told how a run goes: a progress bar, the metrics."""

    def admitted(self, jobs: int) -> None:
        """A skill was taken up, with so many jobs."""

    def published(self, pillar: Pillar, jobs: int) -> None:
        """Jobs went out."""

    def ended(self, result: Result) -> None:
        """A job came back, or was given up."""

    def concluded(self, record: Record) -> None:
        """A skill, or a rejected entry, has its record."""


class _UnderWay(Struct):
    """A skill between admission and conclusion."""

    position: int
    skill: Skill
    plan: Plan
    results: dict[str, Result]


class Run:
    """One run. *entries* is read lazily; *courier* carries parcels out and results in."""

    def __init__(
        self,
        header: Header,
        entries: Iterator[Entry],
        *,
        policy: Policy,
        planner: Planner,
        ledger: Ledger,
        courier: Courier,
        watchers: tuple[Watcher, ...] = (),
    ) -> None:
        self._header = header
        self._policy = policy
        self._entries = enumerate(entries)
        self._planner = planner
        self._ledger = ledger
        self._courier = courier
        self._watchers = watchers
        limits = policy.limits
        self._schedule: Schedule[Job] = Schedule(
            window=limits.jobs_in_flight, host_cap=limits.host_in_flight, parcel_jobs=limits.parcel_jobs
        )
        self._skills: dict[str, _UnderWay] = {}
        self._jobs: dict[str, tuple[str, Job]] = {}  # published, not ended: the skill's key and the job
        self._exhausted = False
        self._verdicts: Counter[Decision] = Counter()
        self._parcels = itertools.count()
        self._overdue = Overdue()
        self._sending: set[asyncio.Task[None]] = set()

    async def execute(self) -> Counter[Decision]:
        """Run to the end; how many skills got which verdict.

        Raises:
            BrokerUnreachable: If the broker stays away. What was judged until then is in the ledger.
        """
        self._advance()
        receiving = asyncio.ensure_future(self._receive())
        ticking = asyncio.ensure_future(self._tick())
        try:
            while not receiving.done():
                done, _ = await asyncio.wait({receiving, ticking, *self._sending}, return_when=asyncio.FIRST_COMPLETED)
                self._sending -= done
                for task in done:
                    task.result()
        finally:
            unfinished = (receiving, ticking, *self._sending)
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)
        return self._verdicts

    async def _receive(self) -> None:
        if self._done():
            return
        async for batch in self._courier.batches():
            # Recorded before acknowledged: a coordinator that dies in between gets the batch again.
            await asyncio.to_thread(self._ledger.record, batch.results)
            for result in batch.results:
                self._take(result)
            await batch.ack()
            self._advance()
            if self._done():
                return

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            overdue = self._overdue.tick(time.monotonic(), backlog=await self._courier.backlog())
            for job_id in overdue.again:
                skill, job = self._jobs[job_id]
                log.warning("job overdue, published once more", job=job_id, probe=job.probe)
                self._send(Dispatch(skill, (job,), 1))
            lost = [self._given_up(job_id) for job_id in overdue.lost]
            if lost:
                await asyncio.to_thread(self._ledger.record, lost)
                for result in lost:
                    self._take(result)
                self._advance()

    def _done(self) -> bool:
        return self._exhausted and not self._skills

    def _advance(self) -> None:
        """Admit what the schedule has room for, and send what may go."""
        while self._schedule.wants() and not self._exhausted:
            position, entry = next(self._entries, (-1, None))
            if entry is None:
                self._exhausted = True
            elif isinstance(entry, Rejection):
                self._conclude(position, record.rejected(entry, self._header))
            else:
                self._admit(position, entry)
        for dispatch in self._schedule.take():
            self._send(dispatch)

    def _admit(self, position: int, skill: Skill) -> None:
        plan = self._planner.plan(skill) if self._header.mode is Mode.LIVE else None
        if plan is None:
            self._conclude(position, self._judge_static(skill))
            return
        self._skills[skill.digest] = _UnderWay(position, skill, plan, {})
        self._schedule.admit(skill.digest, plan.host, plan.stages)
        for watcher in self._watchers:
            watcher.admitted(len(plan.planned))

    def _send(self, dispatch: Dispatch[Job]) -> None:
        for job in dispatch.jobs:
            self._jobs[job.id] = (dispatch.skill, job)
        self._sending.add(asyncio.ensure_future(self._publish(dispatch)))

    async def _publish(self, dispatch: Dispatch[Job]) -> None:
        parcel = Parcel(
            id=f"{self._header.run_id}.{next(self._parcels)}",
            run_id=self._header.run_id,
            skill=self._skills[dispatch.skill].plan.ref,
            jobs=dispatch.jobs,
            reply_to=results_queue(self._header.run_id),
            lanes=dispatch.lanes,
        )
        await self._courier.publish(parcel)
        self._overdue.published(parcel, time.monotonic())
        for watcher in self._watchers:
            watcher.published(PILLAR_OF[type(dispatch.jobs[0])], len(dispatch.jobs))

    def _take(self, result: Result) -> None:
        """Take in one result; one that was not asked for, or is already known, changes nothing."""
        known = self._jobs.pop(result.job_id, None)
        if known is None:
            return
        key, _ = known
        self._overdue.returned(result.job_id)
        under_way = self._skills[key]
        under_way.results[result.job_id] = keep(under_way.results.get(result.job_id), result)
        for watcher in self._watchers:
            watcher.ended(result)
        if self._schedule.end(result.job_id) is not None:
            del self._skills[key]
            self._conclude(under_way.position, self._judge(under_way))

    def _judge(self, under_way: _UnderWay) -> Record:
        policy, plan = self._policy, under_way.plan
        evidence = manifest.examine(under_way.skill)
        added = tally(plan.planned, under_way.results)
        pillars = score(added, {Pillar.FUNCTIONAL: evidence.score}, policy, max_latency_ms=plan.max_latency_ms)
        reasons = explain(added, pillars, policy, max_latency_ms=plan.max_latency_ms)
        return record.judged(
            under_way.skill,
            certify(Mode.LIVE, pillars, policy, notes=reasons),
            pillars,
            self._header,
            quiet=added.performance.quiet,
            findings=(*added.findings, *_static_findings(evidence)),
        )

    def _judge_static(self, skill: Skill) -> Record:
        evidence = manifest.examine(skill)
        pillars = static_only({Pillar.FUNCTIONAL: evidence.score})
        notes = ["security and performance: there is no static evidence for them yet"]
        if self._header.mode is Mode.LIVE:
            notes.insert(0, "the manifest names no live endpoint")
        return record.judged(
            skill,
            certify(Mode.STATIC, pillars, self._policy, notes=notes),
            pillars,
            msgspec.structs.replace(self._header, mode=Mode.STATIC),
            findings=_static_findings(evidence),
        )

    def _conclude(self, position: int, concluded: Record) -> None:
        self._ledger.enter(
            self._header.run_id,
            [(position, concluded.skill.id or "", concluded.verdict, concluded.overall, record.line(concluded))],
        )
        self._verdicts[concluded.verdict] += 1
        for watcher in self._watchers:
            watcher.concluded(concluded)

    def _given_up(self, job_id: str) -> Unjudged:
        skill, job = self._jobs[job_id]
        return Unjudged(
            job_id=job_id,
            run_id=self._header.run_id,
            skill_digest=skill,
            pillar=PILLAR_OF[type(job)],
            probe=job.probe,
            reason="no result came back, and none when it was sent again",
        )


def _static_findings(evidence: StaticEvidence) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            probe="manifest",
            pillar=Pillar.FUNCTIONAL,
            category=None,
            severity=None,
            outcome=Outcome.FAIL,
            score=None,
            evidence=f"{deduction.field}: {deduction.reason} (-{deduction.points:g})",
        )
        for deduction in evidence.deductions
    )
