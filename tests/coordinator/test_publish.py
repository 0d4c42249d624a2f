from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import pika
import pytest

from coordinator.courier import Depth
from coordinator.publish import JobPublisher, ParcelTooLarge
from tests.proxy import CuttingProxy
from tests.skill import EchoSkill
from workers.wire import parcels, queues
from workers.wire.faults import BrokerUnreachable

SKILL = EchoSkill.described()


def publishing(url: str, body: Callable[[JobPublisher], Awaitable[None]], *, patience_s: float = 60.0) -> None:
    """Run *body* with an open publisher of the run ``r``."""

    async def run() -> None:
        publisher = JobPublisher(url, "r", patience_s=patience_s)
        await publisher.open()
        try:
            await asyncio.wait_for(body(publisher), 90)
        finally:
            await publisher.aclose(finished=False)

    asyncio.run(run())


def waiting(url: str, queue: str) -> list[bytes]:
    """Everything in *queue*."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    found = []
    while (got := channel.basic_get(queue, auto_ack=True))[0] is not None:
        found.append(got[2])
    connection.close()
    return found


def test_a_parcel_lies_in_its_queue(broker_url: str) -> None:
    """What was published is in the queue of its jobs, as it was."""
    parcel = EchoSkill.parcel_of(SKILL, "r", ["a", "b"])

    publishing(broker_url, lambda publisher: publisher.publish(parcel))

    (body,) = waiting(broker_url, queues.FUNCTIONAL)
    assert parcels.decode(body).args == (parcel,)


def test_a_deleted_queue_is_declared_again(broker_url: str) -> None:
    """A parcel for a queue that somebody deleted in mid-run is not lost."""

    async def body(publisher: JobPublisher) -> None:
        connection = pika.BlockingConnection(pika.URLParameters(broker_url))
        connection.channel().queue_delete(queues.FUNCTIONAL)
        connection.close()
        await publisher.publish(EchoSkill.parcel_of(SKILL, "r", ["a"]))

    publishing(broker_url, body)

    assert len(waiting(broker_url, queues.FUNCTIONAL)) == 1


def test_depths_and_backlog(broker_url: str) -> None:
    """A queue that is used has a backlog while parcels wait in it or nobody listens; other queues do not matter."""

    async def body(publisher: JobPublisher) -> None:
        assert not await publisher.backlog()
        await publisher.publish(EchoSkill.parcel_of(SKILL, "r", ["a"]))
        assert (await publisher.depths())[queues.FUNCTIONAL] == Depth(1, 0)
        assert await publisher.backlog()
        await asyncio.to_thread(waiting, broker_url, queues.FUNCTIONAL)
        assert (await publisher.depths())[queues.FUNCTIONAL] == Depth(0, 0)
        assert await publisher.backlog()

    publishing(broker_url, body)


def test_depths_outlast_a_lost_connection(broker_url: str) -> None:
    """A connection that is cut while depths are asked for is made again, and the answer comes."""
    with CuttingProxy.before(broker_url) as proxy:

        async def body(publisher: JobPublisher) -> None:
            proxy.cut()
            assert await publisher.depths() == dict.fromkeys(queues.ALL, Depth(0, 0))

        publishing(proxy.url(broker_url), body)


def test_a_broker_that_stays_away_is_unreachable(broker_url: str) -> None:
    """When the patience is over, publishing and asking for depths say that the broker is unreachable."""
    with CuttingProxy.before(broker_url) as proxy:

        async def body(publisher: JobPublisher) -> None:
            proxy.refuse(True)
            proxy.cut()
            with pytest.raises(BrokerUnreachable):
                await publisher.publish(EchoSkill.parcel_of(SKILL, "r", ["a"]))
            with pytest.raises(BrokerUnreachable):
                await publisher.depths()

        publishing(proxy.url(broker_url), body, patience_s=0.5)


def test_an_unreachable_broker_is_told_at_the_first_attempt() -> None:
    """Opening without a broker does not wait out the patience of a running run."""
    with pytest.raises(BrokerUnreachable, match="no RabbitMQ at 127"):
        publishing("amqp://guest:guest@127.0.0.1:1/v", lambda publisher: publisher.publish(None), patience_s=1e9)  # type: ignore[arg-type]


def test_a_parcel_that_no_worker_would_read_is_refused(broker_url: str) -> None:
    """A parcel above the size limit is refused before it is sent."""
    huge = msgspec.structs.replace(
        EchoSkill.parcel_of(SKILL, "r", ["a"]),
        skill=msgspec.structs.replace(SKILL, description="x" * parcels.MAX_BYTES),
    )

    async def body(publisher: JobPublisher) -> None:
        with pytest.raises(ParcelTooLarge):
            await publisher.publish(huge)

    publishing(broker_url, body)

    assert waiting(broker_url, queues.FUNCTIONAL) == []
