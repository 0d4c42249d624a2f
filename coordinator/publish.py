"""The only enqueuer of jobs."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import structlog

from coordinator.courier import Depth
from workers.wire import parcels, queues
from workers.wire.amqp import Link
from workers.wire.faults import BrokerUnreachable, LinkLost, Unroutable
from workers.wire.job import Parcel
from workers.wire.publisher import Publisher

PATIENCE_S = 120.0
PAUSE_S = 0.2
REDECLARES = 5

log = structlog.get_logger(__name__)


class ParcelTooLarge(ValueError):
    """A parcel that no worker would read."""


class JobPublisher:
    """Publishes the parcels of one run, confirmed and pipelined, through lost connections and deleted queues.

    *patience_s* bounds how long a broker may be away in mid-run.
    """

    def __init__(self, url: str, run_id: str, *, patience_s: float = PATIENCE_S) -> None:
        self.reply_to = queues.results_queue(run_id)
        self._patience_s = patience_s
        self._used: set[str] = set()
        self._publisher = Publisher(
            url, name=f"skillmark coordinator: jobs of {run_id}", patience_s=patience_s, prepare=self._declare
        )

    async def open(self) -> None:
        """Connect once and declare every queue, the run's results queue among them.

        Raises:
            BrokerUnreachable: If the broker does not let us in.
        """
        await self._publisher.open()

    async def _declare(self, link: Link) -> None:
        for method, arguments in queues.declarations(*queues.ALL, self.reply_to):
            await link.call(method, **arguments)

    async def publish(self, parcel: Parcel) -> None:
        """Put *parcel* into its queue; returns when the broker has confirmed it.

        Raises:
            BrokerUnreachable: If the broker is gone for longer than the patience.
            ParcelTooLarge: If no worker would read it.
        """
        queue = queues.queue_of(parcel)
        body = parcels.encode(parcel, queue)
        if len(body) > parcels.MAX_BYTES:
            raise ParcelTooLarge(f"parcel {parcel.id} has {len(body)} bytes, at most {parcels.MAX_BYTES} are read")
        self._used.add(queue)
        for _ in range(REDECLARES):
            try:
                return await self._publisher.publish(queue, body)
            except Unroutable:
                log.warning("queue was deleted, declared again", queue=queue)
                with suppress(LinkLost):  # published again after the reconnect, which declares everything
                    for method, arguments in queues.declarations(queue):
                        await self._publisher.call(method, **arguments)
        raise BrokerUnreachable(f"queue {queue} is deleted as often as it is declared")

    async def depths(self) -> dict[str, Depth]:
        """How many parcels wait in each job queue, and how many workers listen to it.

        Raises:
            BrokerUnreachable: If the broker is gone for longer than the patience.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience_s
        while True:
            try:
                found = dict.fromkeys(queues.ALL, Depth(0, 0))
                for method, arguments in queues.declarations(*queues.ALL):
                    answer = (await self._publisher.call(method, **arguments)).method
                    queue = arguments.get("queue", "").removesuffix(queues.SUSPECTS)
                    if queue in found:
                        # The suspects' queue comes second; whoever listens to one listens to both.
                        waiting = found[queue].waiting + answer.message_count
                        found[queue] = Depth(waiting, answer.consumer_count)
            except LinkLost as error:
                if loop.time() > deadline:
                    raise BrokerUnreachable(str(error)) from error
                await asyncio.sleep(PAUSE_S)
            else:
                return found

    async def backlog(self) -> bool:
        """Whether parcels wait in a queue that this run uses, or nobody listens to one."""
        depths = await self.depths()
        return any(depths[queue].waiting > 0 or depths[queue].consumers == 0 for queue in self._used)

    async def aclose(self, *, finished: bool = True) -> None:
        """Disconnect; a *finished* run's results queue is deleted, and what workers still send for it is dropped."""
        if finished:
            with suppress(LinkLost):  # then it expires
                await self._publisher.call("queue_delete", queue=self.reply_to)
        await self._publisher.aclose()
