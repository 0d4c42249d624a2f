"""Which jobs may go next. Pure: no clock, no broker, no task.

The coordinator keeps a bounded window of jobs under way instead of pouring the catalog into the broker. Out of this one
structure come politeness (a cap of requests in flight for each host, over all its skills), stages (a skill's latencies
are taken when its other jobs have ended), a broker whose memory stays flat, and a pause or cancel that takes effect at
once. (Not taken: a shared rate limiter beside the workers. It needs a store on the hot path of every job.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

J = TypeVar("J")

SKILLS = 1_000
"""So many skills are known at once at most, whatever their hosts do."""


class Stage(Struct, Generic[J], frozen=True):
    """Jobs, by id, that may run at the same time once the stages before have ended.

    *lanes* limits how many; *cost* is how many requests one job has in flight, as the host sees it. An *exclusive*
    stage goes out one parcel at a time.
    """

    jobs: dict[str, J]
    lanes: int
    cost: int = 1
    exclusive: bool = False


class Dispatch(Struct, Generic[J], frozen=True):
    """Jobs of one skill that may go out now, together, at most *lanes* of them at a time."""

    skill: str
    jobs: tuple[J, ...]
    lanes: int


class _Skill(Struct, Generic[J]):
    key: str
    host: str
    stages: deque[Stage[J]]
    waiting: deque[str]
    out: set[str]


class _Parcel(Struct):
    skill: str
    open: set[str]
    held: int
    cost: int


class _Host(Struct):
    free: int
    ready: deque[str]
    known: int = 0  # jobs that wait or are under way


class Schedule(Generic[J]):
    """The jobs of the admitted skills: waiting, under way, ended.

    Args:
        window: Jobs that may be under way at once, over all skills.
        host_cap: Requests that may be in flight to one host.
        parcel_jobs: Jobs of one skill that travel together.
    """

    def __init__(self, *, window: int, host_cap: int, parcel_jobs: int) -> None:
        self._window = window
        self._host_cap = host_cap
        self._parcel_jobs = parcel_jobs
        self._skills: dict[str, _Skill[J]] = {}
        self._hosts: dict[str, _Host] = {}
        self._ready: deque[str] = deque()  # hosts that may have something to send
        self._parcels: dict[str, _Parcel] = {}  # by job id
        self._under_way = 0
        # What one host counts for: enough to keep it busy. The skills of a host that hangs may wait for hours, and
        # those of the others must not wait with them.
        self._share = max(window // 4, 1)
        self._counted = 0

    @property
    def under_way(self) -> int:
        """Jobs that went out and have not ended."""
        return self._under_way

    @property
    def skills(self) -> int:
        """Skills that were admitted and have not ended."""
        return len(self._skills)

    def wants(self) -> bool:
        """Whether another skill should be admitted: fewer jobs known than would fill the window twice."""
        return self._counted < 2 * self._window and len(self._skills) < SKILLS

    def admit(self, skill: str, host: str, stages: Sequence[Stage[J]]) -> bool:
        """Take in *skill*. False if it has no job at all, and so has ended already."""
        filled = deque(stage for stage in stages if stage.jobs)
        if not filled:
            return False
        self._skills[skill] = _Skill(skill, host, filled, deque(filled[0].jobs), set())
        self._enqueue(skill, host)
        self._count(self._hosts[host], sum(len(stage.jobs) for stage in filled))
        return True

    def take(self) -> Iterator[Dispatch[J]]:
        """Everything that may go out now, hosts in turn; what is yielded counts as under way."""
        for _ in range(len(self._ready)):
            name = self._ready.popleft()
            host = self._hosts[name]
            # One turn a skill: a large skill must not make the small ones on its host wait for all of it.
            for _ in range(len(host.ready)):
                skill = self._skills[host.ready[0]]
                # The first in line keeps its place until the host has room for it: a sustained load needs several
                # places at once, and would wait for ever behind jobs that need one.
                if self._under_way >= self._window or host.free < min(skill.stages[0].cost, self._host_cap):
                    break
                host.ready.popleft()
                if skill.stages[0].exclusive and skill.out:
                    host.ready.append(skill.key)
                elif skill.waiting:
                    yield self._dispatch(skill, host)
            if host.ready:
                self._ready.append(name)

    def end(self, job_id: str) -> str | None:
        """Note that the job *job_id* has ended; the skill's key if that was its last one.

        Unknown ids are ignored: a second result for a job changes nothing.
        """
        parcel = self._parcels.pop(job_id, None)
        if parcel is None:
            return None
        self._under_way -= 1
        skill = self._skills[parcel.skill]
        self._count(self._hosts[skill.host], -1)
        skill.out.discard(job_id)
        parcel.open.discard(job_id)
        # Of fewer jobs than it has lanes, no more than those can run: the other places are free at once.
        freed = parcel.held - min(parcel.held, len(parcel.open) * parcel.cost)
        if freed:
            parcel.held -= freed
            self._hosts[skill.host].free += freed
            self._wake(skill.host)
        if skill.waiting or skill.out:
            if skill.waiting and not parcel.open:
                self._enqueue(skill.key, skill.host)
            return None
        skill.stages.popleft()
        if not skill.stages:
            del self._skills[skill.key]
            self._forget(skill.host)
            return skill.key
        skill.waiting.extend(skill.stages[0].jobs)
        self._enqueue(skill.key, skill.host)
        return None

    def _dispatch(self, skill: _Skill[J], host: _Host) -> Dispatch[J]:
        stage = skill.stages[0]
        room = self._window - self._under_way
        ids = [skill.waiting.popleft() for _ in range(min(self._parcel_jobs, len(skill.waiting), room))]
        lanes = max(1, min(stage.lanes, len(ids), host.free // stage.cost))
        held = min(host.free, lanes * stage.cost)
        host.free -= held
        parcel = _Parcel(skill.key, set(ids), held, stage.cost)
        self._parcels.update(dict.fromkeys(ids, parcel))
        skill.out.update(ids)
        self._under_way += len(ids)
        if skill.waiting and not stage.exclusive:
            host.ready.append(skill.key)
        return Dispatch(skill.key, tuple(stage.jobs[job_id] for job_id in ids), lanes)

    def _count(self, host: _Host, jobs: int) -> None:
        before = min(host.known, self._share)
        host.known += jobs
        self._counted += min(host.known, self._share) - before

    def _enqueue(self, skill: str, name: str) -> None:
        host = self._hosts.setdefault(name, _Host(self._host_cap, deque()))
        if skill not in host.ready:
            host.ready.append(skill)
        self._wake(name)

    def _wake(self, name: str) -> None:
        if self._hosts[name].ready and name not in self._ready:
            self._ready.append(name)

    def _forget(self, name: str) -> None:
        host = self._hosts[name]
        if host.free == self._host_cap and not host.ready:
            del self._hosts[name]
            if name in self._ready:
                self._ready.remove(name)
