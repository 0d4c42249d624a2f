from __future__ import annotations

import asyncio
import os
import signal

from coordinator.remote import RemoteFleet
from tests.fleet import WorkerService, collect, publish_all, until
from tests.skill import EchoSkill
from workers.wire.result import Judged, Result, Unjudged


def test_a_fleet_judges_every_job_once(broker_url: str, echo_skill: EchoSkill) -> None:
    """Two worker processes on RabbitMQ judge every job, and call the skill once for each."""

    async def run() -> dict[str, Result]:
        fleet = RemoteFleet(broker_url, "r")
        await fleet.open()
        try:
            await publish_all(fleet, echo_skill.parcels("r", count=20, size=5))
            return await collect(fleet, 100)
        finally:
            await fleet.aclose()

    with WorkerService(broker_url, processes=2).ready() as service:
        results = asyncio.run(run())
        code = service.stop()

    assert len(results) == 100
    assert all(isinstance(result, Judged) for result in results.values())
    assert set(echo_skill.calls.values()) == {1}
    assert code == 0


def test_a_killed_worker_loses_no_job(broker_url: str, echo_skill: EchoSkill) -> None:
    """SIGKILL in mid-run: the supervisor starts another process and every job has a judged result."""

    async def run(service: WorkerService) -> dict[str, Result]:
        fleet = RemoteFleet(broker_url, "r")
        await fleet.open()
        killed: list[int] = []

        def kill_once(found: int) -> None:
            if found >= 10 and not killed:
                killed.append(service.kill_worker())

        try:
            await publish_all(fleet, echo_skill.parcels("r", count=40, size=5))
            return await collect(fleet, 200, seen=kill_once)
        finally:
            await fleet.aclose()

    with WorkerService(broker_url).ready() as service:
        results = asyncio.run(run(service))
        deaths = service.lines("worker died")
        code = service.stop()

    assert len(results) == 200
    assert all(isinstance(result, Judged) for result in results.values())
    assert [death["exit_code"] for death in deaths] == [-signal.SIGKILL]
    assert code == 0


def test_a_job_that_kills_its_workers_is_given_up_alone(broker_url: str, echo_skill: EchoSkill) -> None:
    """A poison job ends as unjudged after it has cost five workers; the other jobs of its parcel are judged."""

    async def run(service: WorkerService) -> dict[str, Result]:
        fleet = RemoteFleet(broker_url, "r")
        await fleet.open()

        async def poison() -> None:
            # What a native crash in a probe would do: whenever the poison job calls, its process dies.
            dead = 0
            while True:
                await asyncio.sleep(0.02)
                pids = [line["pid"] for line in service.lines("ready")]
                if echo_skill.calls["poison"] > dead and len(pids) > dead:
                    os.kill(pids[-1], signal.SIGKILL)
                    dead = len(pids)

        killing = asyncio.create_task(poison())
        try:
            await fleet.publish(echo_skill.parcel("r", ["before", "poison", "after"]))
            return await collect(fleet, 3)
        finally:
            killing.cancel()
            await fleet.aclose()

    echo_skill.hold("poison")
    with WorkerService(broker_url, concurrency=1).ready() as service:
        results = asyncio.run(run(service))

    poisoned = results.pop(echo_skill.job_id("r", "poison"))
    assert isinstance(poisoned, Unjudged)
    assert poisoned.reason == "lost its worker again and again, 3 times while no other suspect was there"
    assert all(isinstance(result, Judged) for result in results.values())
    assert len(results) == 2


def test_sigterm_lets_running_parcels_finish_and_returns_the_others(broker_url: str, echo_skill: EchoSkill) -> None:
    """A graceful stop ends with 0: the running parcel's results are out, the waiting one is run by the next worker."""

    async def run() -> dict[str, Result]:
        fleet = RemoteFleet(broker_url, "r")
        await fleet.open()
        try:
            echo_skill.gate.clear()
            await publish_all(fleet, [echo_skill.parcel("r", [name]) for name in ("running", "waiting")])
            with WorkerService(broker_url, concurrency=1).ready() as first:
                await asyncio.to_thread(echo_skill.called.acquire, timeout=60)
                (running,) = echo_skill.calls
                first.process.terminate()
                await asyncio.to_thread(until, lambda: first.lines("stopping"), "stopping")
                echo_skill.gate.set()
                assert await asyncio.to_thread(first.stop) == 0
            assert set(echo_skill.calls) == {running}
            with WorkerService(broker_url).ready():
                return await collect(fleet, 2)
        finally:
            await fleet.aclose()

    results = asyncio.run(run())

    assert all(isinstance(result, Judged) for result in results.values())
    assert echo_skill.calls == {"running": 1, "waiting": 1}


def test_what_outlasts_the_grace_goes_back(broker_url: str, echo_skill: EchoSkill) -> None:
    """A parcel that still runs when the grace is over is run again by the next worker."""

    async def run() -> dict[str, Result]:
        fleet = RemoteFleet(broker_url, "r")
        await fleet.open()
        try:
            echo_skill.gate.clear()
            await fleet.publish(echo_skill.parcel("r", ["slow"]))
            with WorkerService(broker_url, grace_s=0.3).ready() as first:
                await asyncio.to_thread(echo_skill.called.acquire, timeout=60)
                assert await asyncio.to_thread(first.stop) == 0
            echo_skill.gate.set()
            with WorkerService(broker_url).ready():
                return await collect(fleet, 1)
        finally:
            await fleet.aclose()

    results = asyncio.run(run())

    assert all(isinstance(result, Judged) for result in results.values())
    assert echo_skill.calls == {"slow": 2}
