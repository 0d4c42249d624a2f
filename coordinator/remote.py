"""The fleet behind a RabbitMQ."""

from __future__ import annotations

from collections.abc import AsyncIterator

from coordinator.collect import Collector
from coordinator.courier import Batch, Depth
from coordinator.publish import PATIENCE_S, JobPublisher
from workers.wire.job import Parcel


class RemoteFleet:
    """A `Courier` over RabbitMQ, on a connection for each direction: a slow ledger must not hold back confirms."""

    def __init__(self, url: str, run_id: str, *, patience_s: float = PATIENCE_S) -> None:
        self._publisher = JobPublisher(url, run_id, patience_s=patience_s)
        self._collector = Collector(url, run_id, patience_s=patience_s)

    async def open(self) -> None:
        """Connect and declare the queues.

        Raises:
            BrokerUnreachable: If the broker does not let us in.
        """
        await self._publisher.open()
        try:
            await self._collector.open()
        except BaseException:
            await self._publisher.aclose()
            raise

    @property
    def reply_to(self) -> str:
        """See `Courier.reply_to`."""
        return self._publisher.reply_to

    async def publish(self, parcel: Parcel) -> None:
        """See `Courier.publish`."""
        await self._publisher.publish(parcel)

    def batches(self) -> AsyncIterator[Batch]:
        """See `Courier.batches`."""
        return self._collector.batches()

    async def depths(self) -> dict[str, Depth]:
        """See `Courier.depths`."""
        return await self._publisher.depths()

    async def backlog(self) -> bool:
        """See `Courier.backlog`."""
        return await self._publisher.backlog()

    async def aclose(self, *, finished: bool = True) -> None:
        """See `Courier.aclose`."""
        await self._collector.aclose()
        await self._publisher.aclose(finished=finished)
