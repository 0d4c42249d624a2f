from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dramatiq
import pytest
from dramatiq.middleware import CurrentMessage

from tests.skill import EchoSkill
from workers.actors import LOST_ALONE, Desk
from workers.wire import queues
from workers.wire.broker import Delivery
from workers.wire.faults import Unroutable
from workers.wire.job import Parcel
from workers.wire.result import Judged, Result, Unjudged

QUEUE = queues.FUNCTIONAL


class Notes:
    """An outbox that writes down what it is given; a result is safe only once *safe* is set."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Result]] = []
        self.messages: list[int] = []
        self.parcels: list[tuple[str, Parcel]] = []
        self.safe = asyncio.Event()
        self.safe.set()
        self.second = asyncio.Event()
        self.cancelled = False

    async def open(self) -> None:
        pass

    async def results(self, queue: str, results: Sequence[Result]) -> None:
        if self.cancelled:
            raise Unroutable(queue)
        self.sent += [(queue, result) for result in results]
        self.messages.append(len(results))
        if len(self.sent) == 2:
            self.second.set()
        await self.safe.wait()

    async def parcel(self, queue: str, parcel: Parcel) -> None:
        self.parcels.append((queue, parcel))

    async def aclose(self) -> None:
        pass


@contextmanager
def delivered(queue: str, losses: int) -> Iterator[None]:
    """As if the message in hand came from *queue* and had been lost *losses* times."""
    message: Any = dramatiq.Message(queue_name=queue, actor_name=queue, args=(), kwargs={}, options={})
    middleware: Any = CurrentMessage()
    middleware.before_process_message(None, Delivery(message, losses, lambda *_: None))
    try:
        yield
    finally:
        middleware.after_process_message(None, None)


def serve(parcel: Parcel, notes: Notes, *, queue: str = QUEUE, losses: int = 0) -> Desk:
    """Serve *parcel* to the end."""

    async def run() -> Desk:
        desk = Desk(notes)
        try:
            await desk.serve(parcel)
        finally:
            await desk._aclose()
        return desk

    with delivered(queue, losses):
        return asyncio.run(run())


def test_each_job_gets_its_result(echo_skill: EchoSkill) -> None:
    """A fresh parcel is run and one result a job goes to the queue that it names."""
    notes = Notes()

    serve(echo_skill.parcel("r", ["a", "b", "c"]), notes)

    assert {queue for queue, _ in notes.sent} == {"skillmark.results.r"}
    assert [type(result) for _, result in notes.sent] == [Judged] * 3
    assert notes.parcels == []


def test_the_results_of_a_parcel_travel_together(echo_skill: EchoSkill) -> None:
    """The results of twenty jobs that end at the same time are one message, not twenty."""
    notes = Notes()

    serve(echo_skill.parcel("r", [str(number) for number in range(20)]), notes)

    assert sum(notes.messages) == 20
    assert len(notes.messages) < 20


def test_a_parcel_is_done_only_when_its_results_are_safe(echo_skill: EchoSkill) -> None:
    """The actor does not end, so the message is not acknowledged, before the last result is confirmed."""

    async def run() -> None:
        notes = Notes()
        notes.safe.clear()
        desk = Desk(notes)
        serving = asyncio.create_task(desk.serve(echo_skill.parcel("r", ["a", "b"])))
        await notes.second.wait()
        done, _ = await asyncio.wait({serving}, timeout=0.2)
        assert not done

        notes.safe.set()
        await serving
        await desk._aclose()

    asyncio.run(run())


def test_a_parcel_that_came_back_is_split(echo_skill: EchoSkill) -> None:
    """A redelivered parcel of several jobs goes back to its queue job by job, and no skill is called."""
    notes = Notes()

    serve(echo_skill.parcel("r", ["a", "b", "c"]), notes, losses=1)

    assert [queue for queue, _ in notes.parcels] == [QUEUE] * 3
    assert [[job.probe for job in parcel.jobs] for _, parcel in notes.parcels] == [["a"], ["b"], ["c"]]
    assert len({parcel.id for _, parcel in notes.parcels}) == 3
    assert not echo_skill.calls


def test_a_job_that_came_back_goes_among_the_suspects(echo_skill: EchoSkill) -> None:
    """A redelivered single job waits for its turn in the suspects' queue."""
    notes = Notes()

    serve(echo_skill.parcel("r", ["a"]), notes, losses=1)

    assert [(queue, len(parcel.jobs)) for queue, parcel in notes.parcels] == [(queues.suspects_of(QUEUE), 1)]
    assert not echo_skill.calls


@pytest.mark.parametrize("losses", range(LOST_ALONE))
def test_a_suspect_is_run(echo_skill: EchoSkill, losses: int) -> None:
    """A suspect gets its chances."""
    notes = Notes()

    serve(echo_skill.parcel("r", ["a"]), notes, queue=queues.suspects_of(QUEUE), losses=losses)

    assert [type(result) for _, result in notes.sent] == [Judged]


def test_a_suspect_that_keeps_losing_its_worker_is_given_up(echo_skill: EchoSkill) -> None:
    """After the last chance the job ends as unjudged, without another call of the skill."""
    notes = Notes()

    serve(echo_skill.parcel("r", ["a"]), notes, queue=queues.suspects_of(QUEUE), losses=LOST_ALONE)

    assert [type(result) for _, result in notes.sent] == [Unjudged]
    assert not echo_skill.calls


def test_a_cancelled_run_stops_at_its_first_result(echo_skill: EchoSkill) -> None:
    """When nobody takes the results the parcel ends without an error, its other jobs are not run, and it is counted."""
    notes = Notes()
    notes.cancelled = True

    desk = serve(echo_skill.parcel("r", [str(number) for number in range(50)]), notes)

    assert desk.cancelled_parcels == 1
    assert len(echo_skill.calls) < 50
