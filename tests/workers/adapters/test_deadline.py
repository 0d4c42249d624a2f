"""A deadline counts the time in which our own loop was there to take the answer."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
import uvloop

from workers.adapters._deadline import Deadline
from workers.faults import FleetFault
from workers.observation import Answered, TimedOut

T = TypeVar("T")
Run = Callable[[Callable[[], Awaitable[Any]]], Any]


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a coroutine on each kind of loop that a worker may have."""

    def run_on_it(main: Callable[[], Awaitable[T]]) -> T:
        async def started() -> T:
            return await main()

        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(started())

    return run_on_it


def test_an_answer_that_came_while_our_loop_stood_still_is_taken(run: Run) -> None:
    """It lay in the socket in time; that nobody looked is not the skill's doing."""

    async def main() -> bytes:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            async with Deadline(0.1).limit():
                answer = asyncio.ensure_future(asyncio.get_running_loop().sock_recv(ours, 10))
                await asyncio.sleep(0)
                theirs.send(b"42")
                time.sleep(0.4)  # noqa: ASYNC251 - this is the loop that stands still
                return await answer

    answer = run(main)

    assert answer == b"42"


def test_who_says_nothing_is_timed_out_however_often_our_loop_stands_still(run: Run) -> None:
    """What the loop missed is given once more, and no more than that."""

    async def main() -> TimedOut:
        deadline = Deadline(0.2)

        async def wait() -> None:
            async with deadline.limit():
                for _ in range(3):
                    time.sleep(0.1)  # noqa: ASYNC251
                    await asyncio.sleep(0.01)
                await asyncio.sleep(60)

        with pytest.raises(TimeoutError):
            await wait()
        return deadline.missed()

    missed = run(main)

    assert missed.deadline_ms == 200.0
    assert missed.elapsed_ms >= 300.0


def test_a_loop_that_never_turns_says_nothing_of_the_skill(run: Run) -> None:
    """The wait ends all the same, as our own failure."""

    async def main() -> None:
        deadline = Deadline(0.3)

        async def crowd() -> None:
            while True:
                time.sleep(0.4)  # noqa: ASYNC251
                await asyncio.sleep(0)

        neighbour = asyncio.ensure_future(crowd())
        try:
            with pytest.raises(TimeoutError):
                async with deadline.limit():
                    await asyncio.sleep(60)
            deadline.missed()
        finally:
            neighbour.cancel()

    with pytest.raises(FleetFault, match="stood still"):
        run(main)


def test_a_timeout_that_comes_up_inside_is_told_apart(run: Run) -> None:
    """It is no missed deadline."""

    async def main() -> bool:
        async with Deadline(10.0).limit() as scope:
            try:
                raise TimeoutError
            except TimeoutError:
                return scope.expired()

    assert run(main) is False


def test_a_skill_beside_one_that_keeps_us_busy_is_not_blamed(raw: Any) -> None:
    """Its answer was sent before the deadline and is read after it."""

    async def behave(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42")
        time.sleep(0.5)  # noqa: ASYNC251 - server and adapter share the loop

    called = raw.call(behave, deadline_s=0.2)

    assert isinstance(called.only, Answered)
