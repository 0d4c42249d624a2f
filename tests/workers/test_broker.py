from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

import dramatiq
import pika
import pytest
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from dramatiq.errors import BrokerConnectionError
from structlog.testing import capture_logs

from tests.fleet import until
from tests.proxy import CuttingProxy
from tests.skill import EchoSkill
from workers.wire import parcels, queues
from workers.wire.broker import FleetBroker

QUEUE = queues.FUNCTIONAL
SECRET = "hunter2-hunter2"


@contextmanager
def channel(url: str) -> Iterator[Any]:
    connection = pika.BlockingConnection(pika.URLParameters(url))
    try:
        yield connection.channel()
    finally:
        connection.close()


def put(url: str, *bodies: bytes, queue: str = QUEUE) -> None:
    with channel(url) as there:
        there.confirm_delivery()
        for body in bodies:
            there.basic_publish("", queue, body, mandatory=True)


def left(url: str, queue: str = QUEUE) -> int:
    """How many messages wait in *queue*."""
    with channel(url) as there:
        return int(there.queue_declare(queue, passive=True).method.message_count)


def bodies(skill: EchoSkill, *names: str) -> list[bytes]:
    return [parcels.encode(skill.parcel("r", [name]), QUEUE) for name in names]


@contextmanager
def consuming(broker: dramatiq.Broker, queue: str = QUEUE, *, prefetch: int = 1) -> Iterator[dramatiq.Consumer]:
    consumer = broker.consume(queue, prefetch=prefetch, timeout=50)
    next(consumer)  # the broker is asked for messages by the first call
    try:
        yield consumer
    finally:
        consumer.close()


def left_after_stale_ack(broker: dramatiq.Broker, url: str, proxy: CuttingProxy, skill: EchoSkill, queue: str) -> int:
    """How many of two messages survive an acknowledgement that comes after a reconnect.

    The first is acknowledged through the consumer that the worker has now, which is what Dramatiq's worker does. By
    then somebody else has the first and the new consumer the second; then the worker dies.
    """
    first = broker.consume(queue, prefetch=1, timeout=50)
    next(first)
    put(url, *bodies(skill, "one", "two"), queue=queue)
    old = until(lambda: next(first), "a delivery")
    proxy.cut()
    with pytest.raises(BrokerConnectionError):
        until(lambda: next(first), "the loss is noticed")
    with suppress(BrokerConnectionError):
        first.close()
    until(lambda: left(url, queue) == 2, "the message is back")
    with channel(url) as somebody:
        somebody.basic_get(queue)
        second = broker.consume(queue, prefetch=1, timeout=50)
        until(lambda: next(second), "the other message")
        second.ack(old)
        second.close()
    return until(lambda: left(url, queue), "what was not acknowledged is back")  # type: ignore[no-any-return]


def test_stock_dramatiq_acknowledges_another_message_after_a_reconnect(broker_url: str, echo_skill: EchoSkill) -> None:
    """Dramatiq's own broker acknowledges an old delivery tag on the new channel: a message that never ran is gone."""
    with CuttingProxy.before(broker_url) as proxy:
        broker = RabbitmqBroker(url=proxy.url(broker_url), middleware=[])
        try:
            found = left_after_stale_ack(broker, broker_url, proxy, echo_skill, "stock")
        finally:
            broker.close()

    assert found == 1


def test_a_delivery_is_acknowledged_where_it_came_from_or_not_at_all(broker_url: str, echo_skill: EchoSkill) -> None:
    """With our broker an acknowledgement that comes after the reconnect touches no other message."""
    with CuttingProxy.before(broker_url) as proxy:
        broker = FleetBroker(proxy.url(broker_url), middleware=[])
        found = left_after_stale_ack(broker, broker_url, proxy, echo_skill, QUEUE)

    assert found == 2
    assert broker.stale == 1


def test_an_acknowledged_message_is_gone_and_a_failed_one_is_back(broker_url: str, echo_skill: EchoSkill) -> None:
    """An acknowledgement removes its message; a failed message is delivered again, and says so."""
    broker = FleetBroker(broker_url, middleware=[])
    with consuming(broker) as consumer:
        put(broker_url, *bodies(echo_skill, "one", "two"))
        one = until(lambda: next(consumer), "a delivery")
        consumer.ack(one)
        two = until(lambda: next(consumer), "a delivery")
        consumer.nack(two)
        again = until(lambda: next(consumer), "the failed one again")

    assert (one.losses, two.losses, again.losses) == (0, 0, 1)
    assert again.message_id == two.message_id
    assert left(broker_url) == 1


def test_losses_count_up(broker_url: str, echo_skill: EchoSkill) -> None:
    """Each consumer that ends with a message in hand counts once, however many it had ahead."""
    broker = FleetBroker(broker_url, middleware=[])
    with consuming(broker):
        pass  # the queue is there
    put(broker_url, *bodies(echo_skill, "one", "two", "three"))
    losses = []
    for _ in range(4):
        with closing(broker.consume(QUEUE, prefetch=3, timeout=50)) as consumer:
            losses.append(until(partial(next, consumer), "a delivery").losses)

    assert losses == [0, 1, 2, 3]


def test_a_suspect_comes_without_another_behind_it(broker_url: str, echo_skill: EchoSkill) -> None:
    """From the suspects' queue one message is taken at a time, whatever the prefetch."""
    broker = FleetBroker(broker_url, middleware=[])
    queue = queues.suspects_of(QUEUE)
    with consuming(broker, queue, prefetch=10) as consumer:
        put(broker_url, *bodies(echo_skill, "one", "two"), queue=queue)
        until(lambda: next(consumer), "a delivery")
        waiting = until(lambda: left(broker_url, queue), "the other one waits")

    assert waiting == 1


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"{}", b"[" * 100_000, SECRET.encode(), b'{"args":[5]}'])
def test_an_undecodable_message_goes_to_the_dead(broker_url: str, echo_skill: EchoSkill, body: bytes) -> None:
    """What is no parcel is counted, logged without its content and kept with the dead; the next parcel comes."""
    broker = FleetBroker(broker_url, middleware=[])
    with capture_logs() as logged, consuming(broker) as consumer:
        put(broker_url, body, *bodies(echo_skill, "good"))
        good = until(lambda: next(consumer), "the good one")
        consumer.ack(good)

    assert broker.undecodable == 1
    assert SECRET not in repr(logged)
    assert [line["size"] for line in logged if line["event"] == "undecodable message"] == [len(body)]
    assert until(lambda: left(broker_url, queues.DEAD), "the dead letter") == 1
    assert left(broker_url) == 0


def test_what_a_message_says_about_itself_is_not_followed(broker_url: str, echo_skill: EchoSkill) -> None:
    """Another actor's name, another queue, an eta or a pipe in the message have no effect."""
    body = bodies(echo_skill, "one")[0].replace(
        b'"options":{}', b'"options":{"eta":99999999999999,"pipe_target":{"queue_name":"x"}}'
    )
    body = body.replace(b'"queue_name":"skillmark.functional"', b'"queue_name":"elsewhere"')
    broker = FleetBroker(broker_url, middleware=[])
    with consuming(broker) as consumer:
        put(broker_url, body)
        found = until(lambda: next(consumer), "a delivery")

    assert (found.queue_name, found.actor_name, found.options) == (QUEUE, QUEUE, {})


def test_a_deleted_queue_is_declared_again(broker_url: str, echo_skill: EchoSkill) -> None:
    """A consumer whose queue is deleted ends as after a lost connection; the next one finds a queue."""
    broker = FleetBroker(broker_url, middleware=[])
    with consuming(broker) as consumer:
        with channel(broker_url) as there:
            there.queue_delete(QUEUE)
        with pytest.raises(BrokerConnectionError, match="deleted"):
            until(lambda: next(consumer), "the loss is noticed")

    with consuming(broker) as consumer:
        put(broker_url, *bodies(echo_skill, "one"))
        assert until(lambda: next(consumer), "a delivery").losses == 0


def test_nothing_is_published_through_dramatiq(broker_url: str) -> None:
    """Dramatiq's own way to publish is closed."""
    broker = FleetBroker(broker_url, middleware=[])
    message: Any = dramatiq.Message(queue_name=QUEUE, actor_name=QUEUE, args=(), kwargs={}, options={})

    with pytest.raises(NotImplementedError):
        broker.enqueue(message)


def test_no_delay_queues(broker_url: str) -> None:
    """Only our queues are declared: no delay queue and no dead queue for each."""
    broker = FleetBroker(broker_url, middleware=[])
    broker.declare_queue(QUEUE)

    with consuming(broker):
        for absent in (f"{QUEUE}.DQ", f"{QUEUE}.XQ"):
            with pytest.raises(pika.exceptions.ChannelClosedByBroker, match="NOT_FOUND"):
                left(broker_url, absent)
    assert broker.get_declared_delay_queues() == set()
