from __future__ import annotations

import asyncio

import pika
import pika.exceptions
import pytest
from structlog.testing import capture_logs

from coordinator.collect import Collector
from coordinator.courier import BATCH, Batch
from tests.fleet import until
from tests.proxy import CuttingProxy
from workers.wire import parcels, queues
from workers.wire.faults import BrokerUnreachable
from workers.wire.job import Pillar
from workers.wire.result import Unjudged

SECRET = b"hunter2-hunter2"


def put(url: str, *bodies: bytes) -> None:
    """Publish *bodies* to the results queue of the run ``r``."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    for method, arguments in queues.declarations(queues.results_queue("r")):
        getattr(channel, method)(**arguments)
    channel.confirm_delivery()
    for body in bodies:
        channel.basic_publish("", queues.results_queue("r"), body, mandatory=True)
    connection.close()


def left(url: str) -> int:
    """How many results wait."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    try:
        return int(connection.channel().queue_declare(queues.results_queue("r"), passive=True).method.message_count)
    finally:
        connection.close()


def result(*numbers: int) -> bytes:
    """The message that carries the results with these *numbers*."""
    (body,) = parcels.encode_results(
        [
            Unjudged(job_id=str(number), run_id="r", skill_digest="d", pillar=Pillar.SECURITY, probe="p", reason="why")
            for number in numbers
        ]
    )
    return body


async def gather(collector: Collector, count: int, *, acknowledge: bool = True) -> list[Batch]:
    """Batches until *count* different results are there."""
    found: list[Batch] = []

    async def listen() -> None:
        async for batch in collector.batches():
            found.append(batch)
            if acknowledge:
                await batch.ack()
            if len(job_ids(found)) >= count:
                return

    await asyncio.wait_for(listen(), 60)
    return found


def job_ids(batches: list[Batch]) -> set[str]:
    return {one.job_id for batch in batches for one in batch.results}


def test_results_come_in_batches_and_are_gone_once_acknowledged(broker_url: str) -> None:
    """Every result comes once, in order, in batches of bounded size; after the acknowledgements none is left."""
    put(broker_url, *(result(number) for number in range(1_200)))

    async def run() -> list[Batch]:
        collector = Collector(broker_url, "r")
        try:
            return await gather(collector, 1_200)
        finally:
            await collector.aclose()

    batches = asyncio.run(run())

    assert [one.job_id for batch in batches for one in batch.results] == [str(number) for number in range(1_200)]
    assert max(len(batch.results) for batch in batches) <= BATCH
    assert left(broker_url) == 0


def test_results_that_came_together_are_told_apart(broker_url: str) -> None:
    """A message holds many results, and rubbish among them harms none of the others."""
    put(broker_url, result(1, 2) + b"\n" + SECRET + b"\n" + result(3), result(4, 5))

    async def run() -> tuple[list[Batch], int]:
        collector = Collector(broker_url, "r")
        try:
            return await gather(collector, 5), collector.undecodable
        finally:
            await collector.aclose()

    batches, undecodable = asyncio.run(run())

    assert [one.job_id for batch in batches for one in batch.results] == ["1", "2", "3", "4", "5"]
    assert undecodable == 1
    assert left(broker_url) == 0


def test_what_was_not_acknowledged_comes_again(broker_url: str) -> None:
    """A coordinator that dies before it acknowledged gets its results once more."""
    put(broker_url, *(result(number) for number in range(20)))

    async def run(*, acknowledge: bool) -> list[Batch]:
        collector = Collector(broker_url, "r")
        try:
            return await gather(collector, 20, acknowledge=acknowledge)
        finally:
            await collector.aclose()

    first = asyncio.run(run(acknowledge=False))
    second = asyncio.run(run(acknowledge=True))

    assert job_ids(first) == job_ids(second)
    assert left(broker_url) == 0


def test_an_acknowledgement_after_a_reconnect_touches_nothing(broker_url: str) -> None:
    """A batch of a lost connection is not acknowledged on the next one, where its tag means other results."""
    put(broker_url, *(result(number) for number in range(10)))

    async def run() -> set[str]:
        with CuttingProxy.before(broker_url) as proxy:
            collector = Collector(proxy.url(broker_url), "r")
            batches = collector.batches()
            old = await anext(batches)
            proxy.cut()
            again: list[Batch] = []
            # What the old connection had brought beside its first batch may still come before the first result again.
            while len(job_ids(again)) < 10:
                batch = await asyncio.wait_for(anext(batches), 60)
                if again or "0" in job_ids([batch]):
                    again.append(batch)
            await old.ack()
            await collector.aclose()
            await batches.aclose()  # type: ignore[attr-defined]
            return job_ids(again)

    again = asyncio.run(run())

    assert again == {str(number) for number in range(10)}
    assert left(broker_url) == 10


def test_an_undecodable_result_is_counted_and_gone(broker_url: str) -> None:
    """Rubbish among the results is counted, logged without its content, acknowledged, and harms no other result."""
    put(broker_url, SECRET, b"[" * 100_000, result(1), b"", b"\n" * 1_000_000, result(2))

    async def run() -> tuple[list[Batch], int]:
        collector = Collector(broker_url, "r")
        try:
            return await gather(collector, 2), collector.undecodable
        finally:
            await collector.aclose()

    with capture_logs() as logged:
        batches, undecodable = asyncio.run(run())

    assert job_ids(batches) == {"1", "2"}
    assert undecodable == 4
    assert SECRET.decode() not in repr(logged)
    assert left(broker_url) == 0


def test_a_deleted_queue_is_declared_again(broker_url: str) -> None:
    """A results queue that somebody deletes is there again, and the collector reads on."""
    put(broker_url, result(1))

    async def run() -> list[Batch]:
        collector = Collector(broker_url, "r")
        try:
            first = await gather(collector, 1)
            listening = asyncio.create_task(gather(collector, 1))
            await asyncio.to_thread(delete)
            await asyncio.to_thread(until, exists, "the collector declares its queue again")
            await asyncio.to_thread(put, broker_url, result(2))
            return [*first, *await listening]
        finally:
            await collector.aclose()

    def delete() -> None:
        connection = pika.BlockingConnection(pika.URLParameters(broker_url))
        connection.channel().queue_delete(queues.results_queue("r"))
        connection.close()

    def exists() -> bool:
        try:
            return left(broker_url) >= 0
        except pika.exceptions.ChannelClosedByBroker:
            return False

    assert job_ids(asyncio.run(run())) == {"1", "2"}


def test_a_broker_that_stays_away_is_unreachable(broker_url: str) -> None:
    """When the patience is over, whoever listens is told."""
    put(broker_url)

    async def run() -> None:
        with CuttingProxy.before(broker_url) as proxy:
            collector = Collector(proxy.url(broker_url), "r", patience_s=0.5)
            await collector.open()
            proxy.refuse(True)
            proxy.cut()
            with pytest.raises(BrokerUnreachable):
                await gather(collector, 1)
            await collector.aclose()

    asyncio.run(run())
