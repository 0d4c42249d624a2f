from __future__ import annotations

import asyncio
import threading

import pytest

from coordinator.embedded import EmbeddedFleet
from tests.fleet import collect
from tests.skill import EchoSkill
from workers.wire.result import Judged, Result


def test_every_job_comes_back_judged(echo_skill: EchoSkill) -> None:
    """Parcels published in memory come back as one judged result for each job."""

    async def run() -> dict[str, Result]:
        fleet = EmbeddedFleet(concurrency=4)
        await fleet.open()
        try:
            for parcel in echo_skill.parcels("r", count=6, size=5):
                await fleet.publish(parcel)
            return await collect(fleet, 30)
        finally:
            await fleet.aclose()

    results = asyncio.run(run())

    assert set(results) == {echo_skill.job_id("r", f"{p}-{j}") for p in range(6) for j in range(5)}
    assert all(isinstance(result, Judged) for result in results.values())
    assert set(echo_skill.calls.values()) == {1}


def test_a_closed_fleet_leaves_no_thread_and_another_can_follow(echo_skill: EchoSkill) -> None:
    """Several fleets in one process, one after another, leave no thread of theirs behind."""

    async def run(run_id: str) -> int:
        fleet = EmbeddedFleet(concurrency=3)
        await fleet.open()
        await fleet.publish(echo_skill.parcel(run_id, ["a", "b"]))
        found = await collect(fleet, 2)
        await fleet.aclose()
        return len(found)

    before = set(threading.enumerate())

    found = [asyncio.run(run(f"r{n}")) for n in range(3)]

    assert found == [2, 2, 2]
    ours = {thread for thread in set(threading.enumerate()) - before if "process_request" not in thread.name}
    for thread in ours:
        thread.join(10)  # those that slept see when they wake up that it is over
    assert not any(thread.is_alive() for thread in ours)


def test_closing_ends_what_still_runs(echo_skill: EchoSkill) -> None:
    """A fleet closed in mid-call does not wait for a skill that does not answer."""
    echo_skill.gate.clear()
    before = set(threading.enumerate())

    async def run() -> None:
        fleet = EmbeddedFleet(concurrency=2)
        await fleet.open()
        for parcel in echo_skill.parcels("r", count=8, size=2):
            await fleet.publish(parcel)
        await asyncio.to_thread(echo_skill.called.acquire, timeout=60)
        assert await fleet.backlog()
        await fleet.aclose()

    asyncio.run(run())

    left = {thread.name for thread in set(threading.enumerate()) - before if "process_request" not in thread.name}
    assert left == set()


def test_batches_end_when_the_fleet_is_closed() -> None:
    """Whoever listens for results is told when there will be no more."""

    async def run() -> list[object]:
        fleet = EmbeddedFleet(concurrency=1)
        await fleet.open()
        listening = asyncio.create_task(collect_all(fleet))
        await fleet.aclose()
        return await asyncio.wait_for(listening, 60)

    async def collect_all(fleet: EmbeddedFleet) -> list[object]:
        return [batch async for batch in fleet.batches()]

    assert asyncio.run(run()) == []


def test_two_at_once_are_refused() -> None:
    """A second fleet in the same process is refused while the first is open."""

    async def run() -> None:
        first = EmbeddedFleet()
        await first.open()
        try:
            with pytest.raises(RuntimeError, match="close it first"):
                await EmbeddedFleet().open()
        finally:
            await first.aclose()

    asyncio.run(run())
