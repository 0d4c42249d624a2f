from __future__ import annotations

import asyncio

from coordinator.remote import RemoteFleet
from tests.fleet import WorkerService, collect, publish_all, until
from tests.proxy import CuttingProxy
from tests.rabbitmq import PrivateRabbit
from tests.skill import EchoSkill
from workers.wire.result import Judged, Result


def test_connections_cut_in_mid_run_lose_no_job(broker_url: str, echo_skill: EchoSkill) -> None:
    """With every connection of workers and coordinator cut twice in mid-run each job has a judged result."""
    with CuttingProxy.before(broker_url) as proxy:
        url = proxy.url(broker_url)
        cuts = iter((10, 60))
        after = next(cuts)

        def cut(found: int) -> None:
            nonlocal after
            if found >= after:
                after = next(cuts, 1_000)
                proxy.cut()

        async def run() -> dict[str, Result]:
            fleet = RemoteFleet(url, "r")
            await fleet.open()
            try:
                publishing = asyncio.create_task(publish_all(fleet, echo_skill.parcels("r", count=50, size=3)))
                found = await collect(fleet, 150, seen=cut)
                await publishing
                return found
            finally:
                await fleet.aclose()

        with WorkerService(url, processes=2).ready():
            results = asyncio.run(run())

    assert len(results) == 150
    assert all(isinstance(result, Judged) for result in results.values())
    assert after == 1_000


def test_a_broker_restarted_in_mid_run_loses_no_job(
    broker_url: str, rabbitmq: PrivateRabbit, echo_skill: EchoSkill
) -> None:
    """The broker is stopped and started in mid-run: publisher, collector and workers go on, each job is judged."""

    async def run() -> dict[str, Result]:
        fleet = RemoteFleet(broker_url, "r")
        await fleet.open()
        reached = asyncio.Event()

        def enough(found: int) -> None:
            if found >= 20:
                reached.set()

        async def restart() -> None:
            await reached.wait()
            await asyncio.to_thread(rabbitmq.stop)
            await asyncio.to_thread(rabbitmq.start)

        try:
            await publish_all(fleet, echo_skill.parcels("r", count=30, size=4))
            restarting = asyncio.create_task(restart())
            first = await collect(fleet, 20, seen=enough)
            later = asyncio.create_task(publish_all(fleet, [echo_skill.parcel("r", [f"later-{n}"]) for n in range(20)]))
            second = await collect(fleet, 140 - len(first))
            await restarting
            await later
            while len(first | second) < 140:
                second |= await collect(fleet, 1)
            return first | second
        finally:
            await fleet.aclose()

    with WorkerService(broker_url).ready():
        results = asyncio.run(run())

    assert len(results) == 140
    assert all(isinstance(result, Judged) for result in results.values())


def test_a_cancelled_run_is_not_run_on(broker_url: str, echo_skill: EchoSkill) -> None:
    """When a run's results queue is gone its parcels are dropped, and the worker goes on with other runs."""

    async def run() -> dict[str, Result]:
        cancelled = RemoteFleet(broker_url, "cancelled")
        await cancelled.open()
        await publish_all(cancelled, [echo_skill.parcel("cancelled", [f"{n}" for n in range(200)])])
        await cancelled.aclose()
        other = RemoteFleet(broker_url, "other")
        await other.open()
        try:
            with WorkerService(broker_url, concurrency=1).ready() as service:
                await other.publish(echo_skill.parcel("other", ["wanted"]))
                found = await collect(other, 1)
                dropped = await asyncio.to_thread(
                    until, lambda: service.lines("nobody waits for these results"), "drop"
                )
                assert [line["run"] for line in dropped] == ["cancelled"]
                assert not await other.backlog()
            return found
        finally:
            await other.aclose()

    results = asyncio.run(run())

    assert [type(result) for result in results.values()] == [Judged]
    assert echo_skill.calls["wanted"] == 1
    assert len(echo_skill.calls) < 201
