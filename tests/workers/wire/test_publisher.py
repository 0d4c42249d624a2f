from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pika
import pytest

from tests.proxy import CuttingProxy
from tests.rabbitmq import PrivateRabbit
from workers.wire.amqp import Link
from workers.wire.faults import BrokerUnreachable, Unroutable
from workers.wire.publisher import Publisher

QUEUE = "q"


async def declare(link: Link) -> None:
    await link.call("queue_declare", queue=QUEUE, durable=True, arguments={"x-queue-type": "quorum"})


def publishing(
    url: str, body: Callable[[Publisher], Awaitable[None]], *, patience_s: float = 60.0, outstanding: int = 500
) -> None:
    """Run *body* with an open publisher."""

    async def run() -> None:
        publisher = Publisher(url, name="test", patience_s=patience_s, prepare=declare, outstanding=outstanding)
        await publisher.open()
        try:
            await asyncio.wait_for(body(publisher), 90)
        finally:
            await publisher.aclose()

    asyncio.run(run())


def arrived(url: str) -> list[bytes]:
    """Everything in the queue."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    found = []
    while True:
        method, _, body = channel.basic_get(QUEUE, auto_ack=True)
        if method is None:
            connection.close()
            return found
        found.append(body)


def test_what_is_confirmed_has_arrived(broker_url: str) -> None:
    """Whatever was awaited is in the queue, each message once and in order."""
    sent = [str(number).encode() for number in range(1_500)]

    async def body(publisher: Publisher) -> None:
        await asyncio.gather(*(publisher.publish(QUEUE, one) for one in sent))

    publishing(broker_url, body)

    assert arrived(broker_url) == sent


def test_cut_connections_lose_nothing(broker_url: str) -> None:
    """With the connection cut three times among 2,000 messages every message arrives."""
    sent = [str(number).encode() for number in range(2_000)]
    confirmed = 0

    with CuttingProxy.before(broker_url) as proxy:

        async def body(publisher: Publisher) -> None:
            async def one(message: bytes) -> None:
                nonlocal confirmed
                await publisher.publish(QUEUE, message)
                confirmed += 1
                if confirmed in (300, 900, 1_500):
                    proxy.cut()

            await asyncio.gather(*(one(message) for message in sent))

        publishing(proxy.url(broker_url), body, outstanding=100)
        connections = proxy.connections

    assert set(arrived(broker_url)) == set(sent)
    assert connections == 4


def test_a_connection_closed_by_the_broker_loses_nothing(broker_url: str, rabbitmq: PrivateRabbit) -> None:
    """Connections that the broker closes in mid-run are made again and everything arrives."""
    sent: list[bytes] = []

    async def body(publisher: Publisher) -> None:
        closing = asyncio.create_task(asyncio.to_thread(rabbitmq.close_connections, broker_url))
        while not closing.done():
            some = [str(len(sent) + number).encode() for number in range(50)]
            sent.extend(some)
            await asyncio.gather(*(publisher.publish(QUEUE, one) for one in some))
        await closing

    publishing(broker_url, body)

    assert set(arrived(broker_url)) == set(sent)


def test_a_missing_queue_is_told(broker_url: str) -> None:
    """A message for a queue that does not exist ends in `Unroutable`; its neighbours arrive."""

    async def body(publisher: Publisher) -> None:
        outcomes = await asyncio.gather(
            publisher.publish(QUEUE, b"before"),
            publisher.publish("gone", b"x"),
            publisher.publish(QUEUE, b"after"),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [type(None), Unroutable, type(None)]

    publishing(broker_url, body)

    assert arrived(broker_url) == [b"before", b"after"]


def test_patience_ends(broker_url: str) -> None:
    """When the broker stays away for longer than the patience, what waits is told so, and so is what comes later."""
    with CuttingProxy.before(broker_url) as proxy:

        async def body(publisher: Publisher) -> None:
            proxy.refuse(True)
            proxy.cut()
            with pytest.raises(BrokerUnreachable):
                await publisher.publish(QUEUE, b"x")
            with pytest.raises(BrokerUnreachable):
                await publisher.publish(QUEUE, b"y")

        publishing(proxy.url(broker_url), body, patience_s=0.5)


def test_closing_ends_what_waits(broker_url: str) -> None:
    """A publish that waits for a broker that is away ends when the publisher is closed."""
    with CuttingProxy.before(broker_url) as proxy:

        async def body(publisher: Publisher) -> None:
            proxy.refuse(True)
            proxy.cut()
            waiting = asyncio.create_task(publisher.publish(QUEUE, b"x"))
            await asyncio.sleep(0)
            await publisher.aclose()
            with pytest.raises(BrokerUnreachable, match="closed"):
                await waiting

        publishing(proxy.url(broker_url), body)


def test_a_refused_message_is_sent_again(broker_url: str) -> None:
    """A message that the broker refuses (nack) waits until the broker takes it."""

    async def full(link: Link) -> None:
        arguments = {"x-max-length": 1, "x-overflow": "reject-publish"}
        await link.call("queue_declare", queue=QUEUE, durable=True, arguments=arguments)

    async def run() -> None:
        publisher = Publisher(broker_url, name="test", patience_s=60.0, prepare=full)
        await publisher.open()
        try:
            await publisher.publish(QUEUE, b"first")
            waiting = asyncio.create_task(publisher.publish(QUEUE, b"second"))
            done, _ = await asyncio.wait({waiting}, timeout=0.5)
            assert not done
            await publisher.call("queue_purge", queue=QUEUE)
            await asyncio.wait_for(waiting, 60)
        finally:
            await publisher.aclose()

    asyncio.run(run())

    assert arrived(broker_url) == [b"second"]
