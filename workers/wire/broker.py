"""Dramatiq on our queues: its worker's threads, our own broker, consumer and encoder.

Dramatiq's own RabbitMQ consumer acknowledges a message on whatever channel it has when the message is finished; after a
reconnect that is another channel, on which the old delivery tag means another message (4 of 20 lost, 4 run twice). It
keeps delay queues and a dead queue for every queue, publishes unconfirmed, and declares on connections that nobody
services. So this broker only consumes, a delivery settles itself where it came from, and publishing is the business of
`workers.wire.publisher`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any, NoReturn

import dramatiq
import pika
import pika.exceptions
import structlog
from dramatiq.errors import BrokerConnectionError
from dramatiq.middleware import Middleware

from workers.wire import queues
from workers.wire.amqp import parameters, why
from workers.wire.parcels import Undecodable, decode

Settle = Callable[[str, bool | None], None]

log = structlog.get_logger(__name__)


class Delivery(dramatiq.MessageProxy):
    """One message as one consumer got it. *losses* counts the consumers that had it before and did not finish it."""

    def __init__(self, message: dramatiq.Message[None], losses: int, settle: Settle) -> None:
        super().__init__(message)
        self.losses = losses
        self.settle = settle


class FleetBroker(dramatiq.Broker):
    """Consumes our queues from one RabbitMQ. *undecodable* and *stale* count what never reached an actor or an ack."""

    def __init__(self, url: str, *, middleware: list[Middleware]) -> None:
        super().__init__(middleware)
        self.queues: set[str] = set()
        self.parameters = parameters(url, "skillmark worker: parcels")
        self.consuming: set[str] = set()
        self.undecodable = 0
        self.stale = 0

    def get_declared_queues(self) -> set[str]:
        """The queues that have an actor."""
        return self.queues.copy()

    def declare_queue(self, queue_name: str) -> None:
        """Note that *queue_name* is to be consumed. It is declared on the consumer's own connection."""
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues.add(queue_name)
            self.emit_after("declare_queue", queue_name)

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> ParcelConsumer:
        """Open a connection of its own and consume *queue_name*.

        Raises:
            BrokerConnectionError: If the broker cannot be reached; Dramatiq tries again.
        """
        ahead = 1 if queue_name.endswith(queues.SUSPECTS) else prefetch
        consumer = ParcelConsumer(self, queue_name, ahead, timeout)
        self.consuming.add(queue_name)
        return consumer

    def enqueue(self, message: dramatiq.Message[Any], *, delay: int | None = None) -> NoReturn:
        """Refuse: Dramatiq would publish unconfirmed."""
        raise NotImplementedError("parcels are published by workers.wire.publisher")


class ParcelConsumer(dramatiq.Consumer):
    """Reads parcels on the consumer thread; deliveries are settled from any thread."""

    def __init__(self, broker: FleetBroker, queue: str, prefetch: int, timeout_ms: int) -> None:
        self._broker = broker
        self._queue = queue
        self._timeout_s = timeout_ms / 1000
        self._arrived: deque[tuple[Any, pika.BasicProperties, bytes]] = deque()
        self._cancelled = Event()
        try:
            self._connection = pika.BlockingConnection(broker.parameters)
            self._channel = self._connection.channel()
            for method, arguments in queues.declarations(queue.removesuffix(queues.SUSPECTS)):
                getattr(self._channel, method)(**arguments)
            self._channel.basic_qos(prefetch_count=prefetch)
            self._channel.add_on_cancel_callback(lambda _: self._cancelled.set())
            # Not pika's generator: when it is closed, what it had buffered is rejected, delivered to it once more and
            # rejected again, and each time counts as a lost worker.
            self._channel.basic_consume(queue, lambda _, *delivery: self._arrived.append(delivery))
        except (pika.exceptions.AMQPError, OSError) as error:
            raise _gone(why(error)) from None

    def __next__(self) -> Delivery | None:
        """The next parcel, or None when none came in time."""
        if not self._arrived:
            self._wait()
        if not self._arrived:
            return None
        method, properties, body = self._arrived.popleft()
        settle = partial(self._settle, method.delivery_tag)
        try:
            fields = decode(body)
        except Undecodable as error:
            # Never its content: it may be anything, secrets included.
            self._broker.undecodable += 1
            log.error("undecodable message", queue=self._queue, size=len(body), reason=str(error))
            settle("basic_nack", False)
            return None
        message: dramatiq.Message[None] = dramatiq.Message(
            # Of what the message says about itself only the parcel counts: Dramatiq follows its names and options.
            queue_name=self._queue,
            actor_name=self._queue,
            args=fields.args,
            kwargs={},
            options={},
            message_id=fields.message_id,
        )
        return Delivery(message, _losses(method.redelivered, properties.headers), settle)

    def _wait(self) -> None:
        try:
            self._connection.process_data_events(time_limit=self._timeout_s)
        except (pika.exceptions.AMQPError, AssertionError, OSError) as error:
            raise _gone(why(error)) from None
        if self._cancelled.is_set():
            raise _gone("the broker cancelled the consumer; was the queue deleted?")
        if self._channel.is_closed:
            raise _gone("the broker closed the channel")

    def _settle(self, tag: int, method: str, requeue: bool | None) -> None:
        arguments = {} if requeue is None else {"requeue": requeue}
        answer = partial(getattr(self._channel, method), tag, **arguments)
        try:
            self._connection.add_callback_threadsafe(answer)
        except pika.exceptions.AMQPError:
            # The broker took the message back when the connection ended; this tag means nothing anywhere else.
            self._broker.stale += 1
            log.info("delivery outlived its connection", queue=self._queue)

    def ack(self, message: dramatiq.MessageProxy) -> None:
        """Acknowledge *message* on the channel that delivered it, which need not be this consumer's."""
        assert isinstance(message, Delivery)  # noqa: S101 - for the type checker; nothing else comes from `__next__`
        message.settle("basic_ack", None)

    def nack(self, message: dramatiq.MessageProxy) -> None:
        """Put *message* back: its actor failed through our own fault."""
        assert isinstance(message, Delivery)  # noqa: S101
        message.settle("basic_nack", True)

    def close(self) -> None:
        """Close the connection, after what is settled has been sent; the broker takes back the rest."""
        try:
            flushed = Event()
            self._connection.add_callback_threadsafe(flushed.set)
            while not flushed.is_set():
                self._connection.sleep(0)
            self._connection.close()
        except (pika.exceptions.AMQPError, AssertionError, OSError) as error:
            log.debug("consumer's connection was closed already", queue=self._queue, reason=why(error))


def _gone(reason: str) -> BrokerConnectionError:
    return BrokerConnectionError(reason)  # type: ignore[no-untyped-call] # dramatiq leaves it unannotated


def _losses(redelivered: bool, headers: dict[str, Any] | None) -> int:
    """How often the message was delivered before; RabbitMQ 4 counts some of it under a second name."""
    counts = [(headers or {}).get(name) for name in ("x-delivery-count", "x-acquired-count")]
    return max([int(redelivered), *(int(count) for count in counts if isinstance(count, int))])
