"""The actors: a parcel comes in, is run, its results go out, and only then is its message acknowledged.

The only module above `workers.wire` that knows Dramatiq. The same actors serve RabbitMQ and the in-memory broker; an
`Outbox` is where they differ.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import dramatiq
import msgspec
import structlog
from dramatiq.middleware import CurrentMessage, Middleware

from workers import secrets
from workers.outgoing import Outgoing
from workers.run import Adapters, run, unjudged
from workers.sandbox import consent
from workers.wire.callbacks import Callbacks
from workers.wire.faults import Unroutable
from workers.wire.job import Parcel
from workers.wire.loop import Loop
from workers.wire.messages import ParcelEncoder, PutBack
from workers.wire.queues import SUSPECTS, suspects_of
from workers.wire.result import Result

if TYPE_CHECKING:
    from workers.metrics import Metrics

LOST_ALONE = 3
"""A job whose worker was lost so often while it was the only suspect there is given up: it is what kills them."""

WORKER_TIMEOUT_MS = 100
"""How long Dramatiq's threads sleep when idle; its own 1,000 delays the shutdown."""

AHEAD = 8
"""Parcels that a process has fetched beyond those that it runs."""

log = structlog.get_logger(__name__)


class Outbox(Protocol):
    """Where results go, and parcels that are split."""

    async def open(self) -> None:
        """Get ready, on the loop of the actors."""
        ...

    async def results(self, queue: str, results: Sequence[Result]) -> None:
        """Hand over *results*; they are safe when this returns.

        Raises:
            Unroutable: If nobody wants the results of this run any more.
        """
        ...

    async def parcel(self, queue: str, parcel: Parcel) -> None:
        """Put *parcel* into *queue*; it is safe when this returns."""
        ...

    async def aclose(self) -> None:
        """Let go of everything."""
        ...


class Desk:
    """What the actors of one worker process share.

    *auth_env* says which environment variables it may send to skills (`secrets.grant`), *allow_exec* whether it may
    start programs (`consent.give`), *callbacks* how skills reach its listener.
    """

    def __init__(
        self,
        outbox: Outbox,
        metrics: Metrics | None = None,
        auth_env: Iterable[str] = (),
        *,
        allow_exec: bool = False,
        callbacks: Callbacks | None = None,
    ) -> None:
        secrets.grant(auth_env)
        consent.give(allow_exec)
        self.cancelled_parcels = 0
        self._outbox = outbox
        self._metrics = metrics
        self._adapters = Adapters(callbacks)
        self._serving: set[asyncio.Task[None]] = set()

    def middleware(self) -> list[Middleware]:
        """All the middleware there is.

        Dramatiq's retries stay out, since one whose publishing fails is acknowledged; so do its time limits, which
        cannot stop a blocked call, and its metrics, which bind every address.
        """
        return [Loop(self._outbox.open, self._aclose), CurrentMessage(), PutBack()]

    async def _aclose(self) -> None:
        for task in self._serving:
            task.cancel()  # the grace is over; their messages are not acknowledged
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._adapters.aclose()
        secrets.grant(())
        consent.give(False)
        await self._outbox.aclose()

    async def serve(self, parcel: Parcel) -> None:
        """Run *parcel* and hand over its results; when this returns all of them are safe.

        A parcel that came back is split, so that one job that kills its worker does not take its neighbours along. A
        single job that came back goes on among the suspects, and is given up when it came back from there too often.
        """
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs in a task
        self._serving.add(task)
        try:
            await self._dispose(parcel)
        except* Unroutable:
            # The run was cancelled and its queue deleted; whoever runs on now bothers skills for nobody.
            self.cancelled_parcels += 1
            log.info("nobody waits for these results", run=parcel.run_id, parcel=parcel.id)
        finally:
            self._serving.discard(task)

    async def _dispose(self, parcel: Parcel) -> None:
        queue, losses = _origin()
        suspect = queue.endswith(SUSPECTS)
        if suspect and losses >= LOST_ALONE:
            await self._give_up(parcel)
        elif suspect or losses == 0 or not parcel.jobs:
            await self._run(parcel)
        elif len(parcel.jobs) > 1:
            log.warning("parcel came back, split", parcel=parcel.id, jobs=len(parcel.jobs))
            async with asyncio.TaskGroup() as sending:
                for number, job in enumerate(parcel.jobs):
                    single = msgspec.structs.replace(parcel, id=f"{parcel.id}.{number}", jobs=(job,))
                    sending.create_task(self._outbox.parcel(queue, single))
        else:
            log.warning("job came back, suspect", parcel=parcel.id)
            await self._outbox.parcel(suspects_of(queue), parcel)

    async def _run(self, parcel: Parcel) -> None:
        async with asyncio.TaskGroup() as sending:
            outgoing = Outgoing(partial(self._outbox.results, parcel.reply_to), sending)
            try:
                await run(parcel, self._adapters, outgoing.add, self._metrics)
                outgoing.flush()
            finally:
                outgoing.drop()

    async def _give_up(self, parcel: Parcel) -> None:
        reason = f"lost its worker again and again, {LOST_ALONE} times while no other suspect was there"
        for job in parcel.jobs:
            log.error("job given up", job=job.id, probe=job.probe)
        await self._outbox.results(parcel.reply_to, [unjudged(parcel, job, reason) for job in parcel.jobs])


def boot(broker: dramatiq.Broker, desk: Desk, queues: Iterable[str], *, concurrency: int) -> dramatiq.Worker:
    """The worker, not started yet, that serves *queues* with at most *concurrency* parcels at a time."""
    dramatiq.set_encoder(ParcelEncoder())
    names = tuple(queues)
    for name in names:
        dramatiq.Actor[[Parcel], None](
            desk.serve, broker=broker, actor_name=name, queue_name=name, priority=0, options={}
        )
    worker = dramatiq.Worker(broker, worker_timeout=WORKER_TIMEOUT_MS, worker_threads=concurrency)
    busy = sum(not name.endswith(SUSPECTS) for name in names)
    # Each queue has a consumer and a prefetch of its own. A few more in all than run at once, so that this process is
    # never idle and never sits on what another could run; but a lone busy queue must still fill every thread.
    worker.queue_prefetch = concurrency + min(concurrency, AHEAD) if busy == 1 else concurrency
    return worker


def _origin() -> tuple[str, int]:
    """The queue of the message in hand, and how many consumers lost it before; in memory none ever does."""
    message = CurrentMessage.get_current_message()
    return (message.queue_name, getattr(message, "losses", 0)) if message is not None else ("", 0)
