"""The fleet in this process: the same actors on Dramatiq's in-memory broker, nothing to install or start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

import dramatiq
from dramatiq.asyncio import get_event_loop_thread
from dramatiq.brokers.stub import StubBroker
from dramatiq.common import join_all
from dramatiq.middleware import Middleware

from coordinator.courier import BATCH, Apart, Batch, Depth
from workers import actors
from workers.wire import parcels, queues
from workers.wire.callbacks import Callbacks
from workers.wire.faults import Unroutable
from workers.wire.job import Parcel
from workers.wire.result import Result

if TYPE_CHECKING:
    from workers.metrics import Metrics

STOP_MS = 1_000


class EmbeddedFleet:
    """A `Courier` whose workers are threads and a loop of this process. One at a time; close it before the next.

    *concurrency* is the number of parcels in flight, *auth_env* the environment variables that may be sent to skills;
    *allow_exec*: they may be started as programs; *callbacks*: how they reach this process.
    """

    def __init__(
        self,
        *,
        concurrency: int = 8,
        metrics: Metrics | None = None,
        auth_env: Sequence[str] = (),
        allow_exec: bool = False,
        callbacks: Callbacks | None = None,
    ) -> None:
        self._metrics = metrics
        self._auth_env = tuple(auth_env)
        self._allow_exec = allow_exec
        self._callbacks = callbacks
        self._concurrency = concurrency
        self._outbox = _QueueOutbox()
        self._broker: _MemoryBroker | None = None
        self._worker: dramatiq.Worker | None = None

    async def open(self) -> None:
        """Start the threads.

        Raises:
            RuntimeError: If another embedded fleet runs in this process; Dramatiq knows one loop a process.
        """
        if get_event_loop_thread() is not None:
            raise RuntimeError("an embedded fleet runs in this process already; close it first")
        self._outbox.attach(asyncio.get_running_loop())
        desk = actors.Desk(
            self._outbox, self._metrics, self._auth_env, allow_exec=self._allow_exec, callbacks=self._callbacks
        )
        self._broker = _MemoryBroker(desk.middleware())
        self._worker = actors.boot(self._broker, desk, queues.ALL, concurrency=self._concurrency)
        await asyncio.to_thread(self._worker.start)

    @property
    def reply_to(self) -> str:
        """Where the results go; in memory there is one place only."""
        return queues.results_queue("embedded")

    async def publish(self, parcel: Parcel) -> None:
        """Put *parcel* into its queue."""
        assert self._broker is not None, "opened before it is used"  # noqa: S101
        self._broker.put(parcel)

    async def batches(self) -> AsyncIterator[Batch]:
        """Batches of some `BATCH` results, or of what came since the last, until the fleet is closed."""
        arrived, apart, closing = self._outbox.arrived, Apart(), False
        while not closing:
            together: tuple[Result, ...] | None = await arrived.get()
            found: list[Result] = []
            await apart.wait()
            while together is not None:
                found += together
                if len(found) >= BATCH or arrived.empty():
                    break
                together = arrived.get_nowait()
            closing = together is None
            apart.took(len(found))
            if found:
                yield Batch(tuple(found), _nothing)

    async def depths(self) -> dict[str, Depth]:
        """Each queue's depth."""
        assert self._broker is not None, "opened before it is used"  # noqa: S101
        return {name: Depth(self._broker.queues[name].qsize(), self._concurrency) for name in queues.ALL}

    async def backlog(self) -> bool:
        """Whether parcels wait."""
        return any(depth.waiting > 0 for depth in (await self.depths()).values())

    async def aclose(self, *, finished: bool = True) -> None:
        """Stop the threads and the loop. What still runs is cancelled; what waits is forgotten."""
        self._outbox.closed = True
        worker, self._worker = self._worker, None
        if worker is not None and self._broker is not None:
            self._broker.flush_all()
            # Where nothing runs the threads sleep; they see when they wake up that it is over, and nobody waits for it.
            busy = any(queue.unfinished_tasks for queue in self._broker.queues.values())
            await asyncio.to_thread(worker.stop, STOP_MS if busy else 0)
            if busy:
                await asyncio.to_thread(join_all, [*worker.workers, *worker.consumers.values()], 10 * STOP_MS)
        self._outbox.arrived.put_nowait(None)


class _MemoryBroker(StubBroker):
    """Without delay queues: nothing here is delayed, and each costs a thread."""

    def __init__(self, middleware: list[Middleware]) -> None:
        super().__init__(middleware)

    def declare_queue(self, queue_name: str) -> None:
        super().declare_queue(queue_name)
        self.delay_queues.clear()

    def put(self, parcel: Parcel) -> None:
        """Put *parcel* into its queue, as the bytes that RabbitMQ would carry."""
        queue = queues.queue_of(parcel)
        self.queues[queue].put(parcels.encode(parcel, queue))


class _QueueOutbox:
    """Results go to a queue of the coordinator's loop, which is another one than the actors'."""

    def __init__(self) -> None:
        self.closed = False
        self.arrived: asyncio.Queue[tuple[Result, ...] | None] = asyncio.Queue()
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver to *loop* from now on."""
        self._loop = loop

    async def open(self) -> None:
        """Nothing to do."""

    async def results(self, queue: str, results: Sequence[Result]) -> None:
        """Hand over *results*."""
        if self.closed or self._loop is None:
            raise Unroutable(queue)
        self._loop.call_soon_threadsafe(self.arrived.put_nowait, tuple(results))

    async def parcel(self, queue: str, parcel: Parcel) -> None:
        """Never asked for: nothing comes back in memory."""
        raise NotImplementedError(queue)

    async def aclose(self) -> None:
        """Nothing to do."""


async def _nothing() -> None:
    """In memory there is nothing to acknowledge."""
