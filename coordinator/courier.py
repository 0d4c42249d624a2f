"""What the coordinator needs of a fleet, in memory or over RabbitMQ."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from workers.wire.faults import BrokerUnreachable as BrokerUnreachable
from workers.wire.job import Parcel
from workers.wire.result import Result

BATCH = 500
FEW, FEW_S, MANY_S = 25, 0.01, 0.02
"""A batch of fewer results than that is followed by the next one soon, any other later."""


class Batch(Struct, frozen=True):
    """Results that belong into one ledger transaction.

    Await *ack* once they are recorded; until then they may come again. Batches are recorded and acknowledged in the
    order in which they came.
    """

    results: tuple[Result, ...]
    ack: Callable[[], Awaitable[None]]


class Apart:
    """Keeps batches apart: what comes alone goes at once, and the more there is the more travels together."""

    def __init__(self) -> None:
        self._next_s = 0.0

    async def wait(self) -> None:
        """Until the next batch may begin."""
        await asyncio.sleep(max(self._next_s - asyncio.get_running_loop().time(), 0.0))

    def took(self, results: int) -> None:
        """Note a batch of so many."""
        self._next_s = asyncio.get_running_loop().time() + (FEW_S if results < FEW else MANY_S)


class Depth(Struct, frozen=True):
    """One job queue: parcels that wait in it, and workers that listen."""

    waiting: int
    consumers: int


class Courier(Protocol):
    """Takes parcels to the workers of one run and brings their results back."""

    @property
    def reply_to(self) -> str:
        """Where workers are to send the results of this run."""
        ...

    async def publish(self, parcel: Parcel) -> None:
        """Hand *parcel* over; it is safe when this returns.

        Raises:
            BrokerUnreachable: If the broker is gone for longer than the patience.
        """
        ...

    def batches(self) -> AsyncIterator[Batch]:
        """The results as they come, for as long as one listens. A result may come twice.

        Raises:
            BrokerUnreachable: If the broker is gone for longer than the patience.
        """
        ...

    async def depths(self) -> dict[str, Depth]:
        """Each job queue's depth.

        Raises:
            BrokerUnreachable: If the broker is gone for longer than the patience.
        """
        ...

    async def backlog(self) -> bool:
        """Whether parcels wait in a queue that this run uses, or nobody listens to one.

        Raises:
            BrokerUnreachable: If the broker is gone for longer than the patience.
        """
        ...

    async def aclose(self, *, finished: bool = True) -> None:
        """Hang up. A *finished* run takes its results queue along; an interrupted one leaves it to be read later."""
        ...
