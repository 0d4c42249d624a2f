"""One worker process: the actors on one RabbitMQ, from start to signal."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence

import structlog
from msgspec import Struct
from prometheus_client import CollectorRegistry

from workers import actors
from workers.metrics import Metrics
from workers.wire import logs, parcels, queues
from workers.wire.amqp import Link
from workers.wire.broker import FleetBroker
from workers.wire.callbacks import Callbacks
from workers.wire.garbage import collect_seldom
from workers.wire.job import Parcel
from workers.wire.publisher import Publisher
from workers.wire.result import Result

TICK_S = 0.2

log = structlog.get_logger(__name__)


class Plan(Struct, frozen=True, kw_only=True):
    """What one worker process needs to know. *broker_url* holds a password: never logged as it is.

    *metrics*: count for Prometheus; the parent serves what all its processes counted. *auth_env*: the environment
    variables that may be sent to skills. *allow_exec*: skills may be started as programs. *callbacks*: how skills reach
    the process that attacks them.
    """

    broker_url: str
    queues: tuple[str, ...]
    concurrency: int
    grace_s: float
    metrics: bool = False
    auth_env: tuple[str, ...] = ()
    allow_exec: bool = False
    callbacks: Callbacks = Callbacks()


class RabbitOutbox:
    """Results and split parcels over one confirming connection."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._publisher: Publisher | None = None

    @property
    def publisher(self) -> Publisher:
        """The open publisher."""
        assert self._publisher is not None, "opened before the first actor runs"  # noqa: S101
        return self._publisher

    async def open(self) -> None:
        """Connect, however long it takes: a worker without a broker has nothing else to do."""
        self._publisher = Publisher(
            self._plan.broker_url, name="skillmark worker: results", patience_s=None, prepare=self._declare
        )
        await self._publisher.open(patience_s=None)

    async def _declare(self, link: Link) -> None:
        for method, arguments in queues.declarations(*self._plan.queues):
            await link.call(method, **arguments)

    async def results(self, queue: str, results: Sequence[Result]) -> None:
        """Publish *results* and wait for the confirms."""
        for body in parcels.encode_results(results):
            await self.publisher.publish(queue, body)

    async def parcel(self, queue: str, parcel: Parcel) -> None:
        """Publish *parcel* to *queue* and wait for the confirm."""
        await self.publisher.publish(queue, parcels.encode(parcel, queue))

    async def aclose(self) -> None:
        """Disconnect."""
        if self._publisher is not None:
            await self._publisher.aclose()


def work(plan: Plan) -> None:
    """Be one worker process until SIGTERM or SIGINT, or until the parent is gone."""
    logs.configure()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    metrics = Metrics(CollectorRegistry()) if plan.metrics else None
    outbox = RabbitOutbox(plan)
    desk = actors.Desk(outbox, metrics, plan.auth_env, allow_exec=plan.allow_exec, callbacks=plan.callbacks)
    served = [name for queue in plan.queues for name in (queue, queues.suspects_of(queue))]
    broker = FleetBroker(plan.broker_url, middleware=desk.middleware())
    worker = actors.boot(broker, desk, served, concurrency=plan.concurrency)
    gc.freeze()
    collect_seldom()
    worker.start()
    ready = False
    parent = multiprocessing.parent_process()
    while not stop.wait(TICK_S):
        if not ready and broker.consuming == set(served):
            ready = True
            log.info("ready", pid=os.getpid(), queues=plan.queues, concurrency=plan.concurrency)
        if parent is not None and not parent.is_alive():
            break  # nobody is left who could stop or restart us
    log.info("stopping", pid=os.getpid(), grace_s=plan.grace_s)
    worker.stop(timeout=int(plan.grace_s * 1000))
    log.info("stopped", pid=os.getpid(), undecodable=broker.undecodable, stale=broker.stale)
