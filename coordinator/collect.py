"""Results from the broker, in batches for the ledger.

A plain consumer of messages with up to 20 results each, and one acknowledgement a batch. What is
recorded but not yet acknowledged comes again after a lost connection; the ledger keys on the job id and does not mind.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pika.exceptions
import structlog

from coordinator.courier import BATCH, Apart, Batch
from coordinator.publish import PATIENCE_S
from workers.wire import queues
from workers.wire.amqp import Link, parameters, reconnect
from workers.wire.parcels import Undecodable, decode_result, lines_of
from workers.wire.result import Result

PREFETCH = 250

log = structlog.get_logger(__name__)


class Collector:
    """Consumes the results of one run. *undecodable* counts lines that were none."""

    def __init__(self, url: str, run_id: str, *, patience_s: float = PATIENCE_S) -> None:
        self.undecodable = 0
        self._queue = queues.results_queue(run_id)
        self._where = parameters(url, f"skillmark coordinator: results of {run_id}")
        self._patience_s = patience_s
        self._arrived: deque[tuple[int, bytes]] = deque()
        self._arrival = asyncio.Event()
        self._link: Link | None = None

    async def open(self) -> None:
        """Connect once, declare the queue and consume.

        Raises:
            BrokerUnreachable: If the broker does not let us in.
        """
        self._link = await reconnect(self._where, 0.0, self._consume)

    async def _consume(self, link: Link) -> None:
        self._arrived.clear()  # the broker sends them again
        self._arrival.clear()
        for method, arguments in queues.declarations(self._queue):
            await link.call(method, **arguments)
        await link.call("basic_qos", prefetch_count=PREFETCH)
        # Cancelled by the broker: the queue was deleted. A new connection declares it again.
        link.channel.add_on_cancel_callback(lambda _: link.drop())
        link.lost.add_done_callback(lambda _: self._arrival.set())
        await link.call("basic_consume", queue=self._queue, on_message_callback=self._on_message)

    def _on_message(self, _channel: object, method: Any, _properties: object, body: bytes) -> None:
        self._arrived.append((method.delivery_tag, body))
        self._arrival.set()

    async def batches(self) -> AsyncIterator[Batch]:
        """Batches of some `BATCH` results, or of what came since the last.

        Raises:
            BrokerUnreachable: If the broker is gone for longer than the patience.
        """
        if self._link is None:
            await self.open()
        apart = Apart()
        while self._link is not None:
            await self._arrival.wait()
            if self._link.lost.done():
                log.warning("connection lost", queue=self._queue, reason=self._link.lost.result())
                self._link = await reconnect(self._where, self._patience_s, self._consume)
                continue
            if len(self._arrived) < BATCH:
                await apart.wait()
            batch = self._take(self._link)
            if batch is not None:
                apart.took(len(batch.results))
                yield batch

    def _take(self, link: Link) -> Batch | None:
        results: list[Result] = []
        last = 0
        while self._arrived and len(results) < BATCH:
            last, body = self._arrived.popleft()
            for line in lines_of(body):
                try:
                    results.append(decode_result(line))
                except Undecodable as error:
                    # Acknowledged with its batch: it would be no better the next time. Its job is ended as overdue.
                    self.undecodable += 1
                    log.error("undecodable result", queue=self._queue, size=len(line), reason=str(error))
        if not self._arrived and not link.lost.done():
            self._arrival.clear()
        return Batch(tuple(results), partial(_acknowledge, link, last)) if last else None

    async def aclose(self) -> None:
        """Disconnect."""
        link, self._link = self._link, None
        self._arrival.set()
        if link is not None:
            await link.close()


async def _acknowledge(link: Link, tag: int) -> None:
    """Acknowledge everything up to *tag*, on the channel that delivered it or not at all."""
    if not link.lost.done():
        try:
            link.channel.basic_ack(tag, multiple=True)
        except pika.exceptions.AMQPError as error:
            log.info("batch outlived its connection", reason=type(error).__name__)
