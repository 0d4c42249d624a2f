"""One run: a catalog in, a record for each skill out.

Reads the catalog only as far as the schedule has room, publishes what may go, takes in results, and reduces a skill as
soon as its last job has ended; so memory holds the skills under way and nothing else. What is asked of a skill and what
its results are worth, an `Assessment` knows.

An entry that is a server is asked for its tools first; each of them then goes on as an entry of its own. It has a
record itself only where its tools could not be found out.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec
import structlog
from msgspec import Struct

from coordinator import discovery
from coordinator.catalog.skill import Entry, Rejection, Skill
from coordinator.courier import BATCH, Courier
from coordinator.ledger.ledger import Ledger, Line
from coordinator.overdue import Overdue
from coordinator.plan import Plan
from coordinator.policy import Limits
from coordinator.schedule import Dispatch, Schedule
from coordinator.tally import keep
from workers.wire.job import PILLAR_OF, Job, Parcel, Pillar
from workers.wire.queues import results_queue
from workers.wire.result import Result, Unjudged

TICK_S = 1.0
AT_ONCE = 16
PLACES = discovery.TOOLS + 12
"""Places that one entry of the catalog takes up: its own, which is the first, and one for each of its tools."""

log = structlog.get_logger(__name__)


class Concluded(Struct, frozen=True, kw_only=True):
    """What is kept of a catalog entry that is done with: the ledger's columns, and its line in the results."""

    skill_id: str
    verdict: str
    overall: float | None
    line: bytes


class Assessment(Protocol):
    """What a run is for: what it asks of a skill, and what it makes of the results. Pure."""

    def plan(self, skill: Skill) -> Plan | None:
        """Everything to be asked of *skill*; None where it is not to be called."""
        ...

    def awaits(self, skill: Skill) -> asyncio.Future[None] | None:
        """What the verdict on *skill*, which was planned, still waits for; None where it can be given at once."""
        ...

    def judge(self, skill: Skill, plan: Plan, results: Mapping[str, Result]) -> Concluded:
        """What *results*, by job id, say of a skill that was called."""
        ...

    def uncalled(self, skill: Skill) -> Concluded:
        """What is said of a skill that had no plan."""
        ...

    def reject(self, rejection: Rejection) -> Concluded:
        """What is said of an entry that is no skill."""
        ...


class Watcher(Protocol):
    """Who is told how a run goes: a progress bar, the metrics."""

    def admitted(self, jobs: int) -> None:
        """A skill was taken up, with so many jobs."""

    def published(self, pillar: Pillar, jobs: int) -> None:
        """Jobs went out."""

    def ended(self, result: Result) -> None:
        """A job came back, or was given up."""

    def concluded(self, concluded: Concluded) -> None:
        """A skill, or a rejected entry, has its record."""


class _UnderWay(Struct):
    """A skill between admission and conclusion. *place* orders the records: see `PLACES`."""

    place: int
    skill: Skill
    plan: Plan
    results: dict[str, Result]


class Run:
    """One run. *entries* is read lazily; *courier* carries parcels out and results in.

    A *resumed* run takes from the ledger what was concluded or judged before, and publishes the rest.
    """

    def __init__(
        self,
        run_id: str,
        entries: Iterator[Entry],
        *,
        assessment: Assessment,
        limits: Limits,
        ledger: Ledger,
        courier: Courier,
        watchers: tuple[Watcher, ...] = (),
        resumed: bool = False,
    ) -> None:
        self._run_id = run_id
        self._entries = enumerate(entries)
        self._assessment = assessment
        self._ledger = ledger
        self._courier = courier
        self._watchers = watchers
        self._resumed = resumed
        self._schedule: Schedule[Job] = Schedule(
            window=limits.jobs_in_flight, host_cap=limits.host_in_flight, parcel_jobs=limits.parcel_jobs
        )
        self._skills: dict[str, _UnderWay] = {}
        self._jobs: dict[str, tuple[str, Job]] = {}  # published, not ended: the skill's key and the job
        self._tools: deque[tuple[int, Entry]] = deque()
        self._exhausted = False
        self._verdicts: Counter[str] = Counter()
        self._unsaved: list[Line] = []
        self._turn = asyncio.Lock()  # whoever takes in results finishes with them before the next
        self._parcels = itertools.count()
        self._overdue = Overdue()
        self._sending: set[asyncio.Task[None]] = set()
        self._awaiting: set[asyncio.Task[None]] = set()  # verdicts
        self._finished = asyncio.Event()

    async def execute(self) -> Counter[str]:
        """Run to the end; how many skills got which verdict.

        Raises:
            BrokerUnreachable: If the broker stays away. What was judged until then is in the ledger.
        """
        async with self._turn:
            await self._advance()
        receiving = asyncio.ensure_future(self._receive())
        ticking = asyncio.ensure_future(self._tick())
        finishing = asyncio.ensure_future(self._finish())
        try:
            while not (receiving.done() or ticking.done() or finishing.done()):
                under_way = {receiving, ticking, finishing, *self._sending, *self._awaiting}
                done, _ = await asyncio.wait(under_way, timeout=TICK_S, return_when=asyncio.FIRST_COMPLETED)
                self._sending -= done
                self._awaiting -= done
                for task in done:
                    task.result()
        finally:
            unfinished = (receiving, ticking, finishing, *self._sending, *self._awaiting)
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)
        return self._verdicts

    async def _receive(self) -> None:
        if self._done():
            return
        async for batch in self._courier.batches():
            async with self._turn:
                for result in batch.results:
                    self._take(result)
                # Saved before acknowledged: a coordinator that dies in between gets the batch again.
                await self._save(batch.results)
                await batch.ack()
                await self._advance()
                if self._done():
                    return

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            backlog = await self._courier.backlog()
            async with self._turn:
                overdue = self._overdue.tick(time.monotonic(), backlog=backlog)
                for job_id in overdue.again:
                    skill, job = self._jobs[job_id]
                    log.warning("job overdue, published once more", job=job_id, probe=job.probe)
                    self._send(Dispatch(skill, (job,), 1))
                lost = [self._given_up(job_id) for job_id in overdue.lost]
                for result in lost:
                    self._take(result)
                if lost:
                    await self._save(lost)
                    await self._advance()
                    if self._done():
                        return

    async def _finish(self) -> None:
        await self._finished.wait()

    def _done(self) -> bool:
        return self._exhausted and not self._skills and not self._tools and not self._awaiting

    async def _save(self, results: Sequence[Result] = ()) -> None:
        """Put *results*, and the records that are ready, into the ledger: in one transaction, off the loop."""
        lines, self._unsaved = self._unsaved, []
        await asyncio.to_thread(self._ledger.save, self._run_id, results, lines)

    async def _advance(self) -> None:
        """Admit what the schedule has room for, and send what may go."""
        for number in itertools.count(1):
            if len(self._awaiting) >= AT_ONCE or not self._schedule.wants() or (one := self._next()) is None:
                break
            if len(self._unsaved) >= BATCH:
                await self._save()
            if number % AT_ONCE == 0:  # the first skills are called while the others are still read
                self._dispatch()
                await asyncio.sleep(0)
            place, entry = one
            if self._resumed and self._ledger.concluded(self._run_id, place):
                continue
            if isinstance(entry, Rejection):
                self._conclude(place, self._assessment.reject(entry))
            else:
                self._admit(place, entry)
        if self._unsaved:
            await self._save()
        self._dispatch()

    def _dispatch(self) -> None:
        for dispatch in self._schedule.take():
            self._send(dispatch)

    def _next(self) -> tuple[int, Entry] | None:
        """The next entry and its place; the tools of a server before the rest of the catalog."""
        if self._tools:
            return self._tools.popleft()
        position, entry = next(self._entries, (-1, None))
        if entry is None:
            self._exhausted = True
            return None
        return position * PLACES, entry

    def _admit(self, place: int, skill: Skill) -> None:
        plan = self._assessment.plan(skill)
        if plan is None:
            self._verdict(place, skill, lambda: self._assessment.uncalled(skill))
            return
        known = self._known(skill, plan) if self._resumed else {}
        stages = [msgspec.structs.replace(stage, jobs=_without(stage.jobs, known)) for stage in plan.stages]
        under_way = _UnderWay(place, skill, plan, known)
        if not self._schedule.admit(skill.digest, plan.host, stages):
            self._reduce(under_way)
            return
        self._skills[skill.digest] = under_way
        for watcher in self._watchers:
            watcher.admitted(sum(len(stage.jobs) for stage in stages))

    def _known(self, skill: Skill, plan: Plan) -> dict[str, Result]:
        """What an earlier life of this run judged; what it could not judge is run again."""
        planned = {job.job_id for job in plan.planned}
        found = self._ledger.results(self._run_id, skill.digest)
        return {id_: one for id_, one in found.items() if id_ in planned and not isinstance(one, Unjudged)}

    def _send(self, dispatch: Dispatch[Job]) -> None:
        for job in dispatch.jobs:
            self._jobs[job.id] = (dispatch.skill, job)
        self._sending.add(asyncio.ensure_future(self._publish(dispatch)))

    async def _publish(self, dispatch: Dispatch[Job]) -> None:
        parcel = Parcel(
            id=f"{self._run_id}.{next(self._parcels)}",
            run_id=self._run_id,
            skill=self._skills[dispatch.skill].plan.ref,
            jobs=dispatch.jobs,
            reply_to=results_queue(self._run_id),
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
            self._reduce(under_way)

    def _reduce(self, done: _UnderWay) -> None:
        """Make of a skill's results its record, or of a server's answer the skills that it has."""
        if done.plan.discovers and (tools := discovery.entries(done.skill, done.results.values())) is not None:
            self._tools += enumerate(tools, done.place + 1)
            return
        self._verdict(done.place, done.skill, lambda: self._assessment.judge(done.skill, done.plan, done.results))

    def _verdict(self, place: int, skill: Skill, given: Callable[[], Concluded]) -> None:
        """Conclude with the verdict *given* of *skill*, as soon as what it waits for is there."""
        awaited = self._assessment.awaits(skill)
        if awaited is None:
            self._conclude(place, given())
        else:
            self._awaiting.add(asyncio.ensure_future(self._verdict_later(place, awaited, given)))

    async def _verdict_later(self, place: int, awaited: asyncio.Future[None], given: Callable[[], Concluded]) -> None:
        await awaited
        async with self._turn:
            self._conclude(place, given())
            task = asyncio.current_task()
            assert task is not None  # noqa: S101 - this runs in one
            self._awaiting.discard(task)
            await self._advance()
            if self._done():
                self._finished.set()

    def _conclude(self, place: int, concluded: Concluded) -> None:
        self._unsaved.append((place, concluded.skill_id, concluded.verdict, concluded.overall, concluded.line))
        self._verdicts[concluded.verdict] += 1
        for watcher in self._watchers:
            watcher.concluded(concluded)

    def _given_up(self, job_id: str) -> Unjudged:
        skill, job = self._jobs[job_id]
        return Unjudged(
            job_id=job_id,
            run_id=self._run_id,
            skill_digest=skill,
            pillar=PILLAR_OF[type(job)],
            probe=job.probe,
            reason="no result came back, and none when it was sent again",
        )


def _without(jobs: dict[str, Job], known: Mapping[str, Result]) -> dict[str, Job]:
    return {id_: job for id_, job in jobs.items() if id_ not in known}
