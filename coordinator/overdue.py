"""What ends the wait for jobs that never come back: dead-lettered, expired, or lost with somebody's disk. Pure.

Time counts only while workers listen and the queue has no backlog: a job that waits in the queue is not overdue, nor is
one that waits for the first worker to be started.
"""

from __future__ import annotations

import heapq

from msgspec import Struct

from workers.wire.job import (
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

TRIES = 2
MARGIN_S = 60.0
LONGEST_S = 1800.0
LONGEST_STEP_S = 5.0
"""More than this between two ticks was no waiting: the machine slept, or the coordinator was stopped."""

ATTEMPT_CALLS = 3
"""Calls that one attempt at a skill takes, on average: few take more, and those are not all taken to the deadline."""

SPARE = 1_000


def budget_s(parcel: Parcel) -> float:
    """How many seconds *parcel* may take in a worker's hands, its wait among the prefetched included.

    Generous on purpose: to publish a job twice costs its skill requests, to wait a while costs nothing.
    """
    calls_s = sum(_calls(job) * job.timeout_ms / 1000 for job in parcel.jobs) / max(1, parcel.lanes)
    return min(MARGIN_S + 2 * calls_s, LONGEST_S)


def _calls(job: Job) -> int:
    match job:
        case FunctionalJob() | ExamineJob() | DiscoverJob():
            return 3
        case EdgeCaseJob():
            return 6
        case SecurityJob():
            return job.max_fields * max(1, len(job.attack.carriers)) * (2 + job.attack.confirm.replays) * ATTEMPT_CALLS
        case HygieneJob():
            return 18
        case QuietJob():
            return job.warmup + job.requests * (1 + job.retakes)
        case SustainedJob():
            return 3


class Due(Struct, frozen=True):
    """Job ids to publish once more, and job ids to give up (`Unjudged`: never came back)."""

    again: tuple[str, ...]
    lost: tuple[str, ...]


class _Waiting:
    __slots__ = ("budget_s", "due_s", "tries")

    def __init__(self, budget_s: float, due_s: float) -> None:
        self.budget_s = budget_s
        self.due_s = due_s
        self.tries = 1


class Overdue:
    """The jobs that are out. All times are seconds of the caller's clock, which must not go backwards."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}
        self._due: list[tuple[float, str]] = []
        self._counted_s = 0.0
        self._last: float | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def published(self, parcel: Parcel, now: float) -> None:
        """*parcel* went out at *now*. A job that is out already stays as it is."""
        if self._last is None:
            self._last = now
        allowed_s = budget_s(parcel)
        for job in parcel.jobs:
            if job.id not in self._waiting:
                self._wait(job.id, _Waiting(allowed_s, self._counted_s + allowed_s))

    def returned(self, job_id: str) -> None:
        """The result of *job_id* is here. Unknown ids are ignored: results come twice."""
        self._waiting.pop(job_id, None)

    def tick(self, now: float, *, backlog: bool) -> Due:
        """What is overdue at *now*. *backlog*: parcels wait in the queue, or nobody listens to it."""
        if self._last is not None and not backlog:
            self._counted_s += min(max(now - self._last, 0.0), LONGEST_STEP_S)
        self._last = now
        again, lost = [], []
        while self._due and self._due[0][0] <= self._counted_s:
            due_s, job_id = heapq.heappop(self._due)
            waiting = self._waiting.get(job_id)
            if waiting is None or waiting.due_s != due_s:
                continue
            if waiting.tries == TRIES:
                del self._waiting[job_id]
                lost.append(job_id)
            else:
                waiting.tries += 1
                waiting.due_s = self._counted_s + waiting.budget_s
                self._wait(job_id, waiting)
                again.append(job_id)
        self._sweep()
        return Due(tuple(again), tuple(lost))

    def _wait(self, job_id: str, waiting: _Waiting) -> None:
        self._waiting[job_id] = waiting
        heapq.heappush(self._due, (waiting.due_s, job_id))

    def _sweep(self) -> None:
        # Jobs that returned leave their entry behind; without this the heap would grow with the run.
        if len(self._due) > 2 * len(self._waiting) + SPARE:
            self._due = [(waiting.due_s, job_id) for job_id, waiting in self._waiting.items()]
            heapq.heapify(self._due)
