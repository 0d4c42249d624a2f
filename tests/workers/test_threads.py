from __future__ import annotations

import asyncio
import threading

import pytest

from workers.faults import FleetFault
from workers.threads import run_in_threads


def test_results_come_in_the_order_of_the_works() -> None:
    """Every work runs at once in a thread of its own and its result stands in its place."""
    barrier = threading.Barrier(3, timeout=30)

    def work(n: int) -> int:
        barrier.wait()
        return n

    found = asyncio.run(run_in_threads([lambda n=n: work(n) for n in range(3)], lambda: None))  # type: ignore[misc]

    assert found == [0, 1, 2]


def test_a_failure_aborts_the_others() -> None:
    """When one work raises, abort ends the others and the error is passed on."""
    stop, ended = threading.Event(), threading.Event()

    def waits() -> None:
        stop.wait(30)
        ended.set()

    def fails() -> None:
        raise FleetFault("no descriptors left")

    with pytest.raises(FleetFault, match="descriptors"):
        asyncio.run(run_in_threads([waits, fails], stop.set))

    assert ended.wait(30)


def test_cancelling_the_caller_aborts_the_work() -> None:
    """A cancelled caller does not wait, and leaves no thread behind."""
    begun, stop, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        stop.wait(30)
        ended.set()

    async def cancel_midway() -> None:
        task = asyncio.ensure_future(run_in_threads([work], stop.set))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_midway())

    assert ended.wait(30)


def test_no_thread_to_be_had_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the system gives no thread, that is a fault of the fleet and the works that did start are aborted."""
    aborted = threading.Event()

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> None:
        monkeypatch.setattr(threading.Thread, "start", refuse)
        await run_in_threads([lambda: None], aborted.set)

    with pytest.raises(FleetFault, match="no thread"):
        asyncio.run(run())

    assert aborted.is_set()
