"""Running a run: the loop, the fleet in this process or behind a broker, the metrics, the signals that end it early."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Sequence

import structlog
import uvloop
from prometheus_client import CollectorRegistry

from coordinator import metrics
from coordinator.catalog.skill import Entry
from coordinator.courier import Courier
from coordinator.embedded import EmbeddedFleet
from coordinator.ledger.ledger import Ledger
from coordinator.metrics import Metrics
from coordinator.policy import Limits
from coordinator.remote import RemoteFleet
from coordinator.run import Assessment, Run, Watcher
from coordinator.settings import Settings, callbacks, redacted
from coordinator.tickets import Ticket
from workers.metrics import Metrics as WorkerMetrics

LISTENERS_S = 5.0

log = structlog.get_logger(__name__)


def execute(
    ticket: Ticket,
    entries: Iterator[Entry],
    assessment: Assessment,
    limits: Limits,
    ledger: Ledger,
    settings: Settings,
    *,
    watchers: Sequence[Watcher] = (),
    certify: bool = True,
) -> bool:
    """Run to the end, or to the first SIGINT or SIGTERM; whether it was cut short. The ledger knows it afterwards.

    Raises:
        LedgerError, BrokerUnreachable: If store or broker cannot be reached.
    """
    interrupted = True
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            interrupted = runner.run(
                _execute(ticket, entries, assessment, limits, ledger, settings, watchers, certify=certify)
            )
    finally:
        ledger.end(ticket.run_id, state="interrupted" if interrupted else "ended")
    return interrupted


async def _execute(
    ticket: Ticket,
    entries: Iterator[Entry],
    assessment: Assessment,
    limits: Limits,
    ledger: Ledger,
    settings: Settings,
    watchers: Sequence[Watcher],
    *,
    certify: bool,
) -> bool:
    collectors = CollectorRegistry()
    watching = (*watchers, Metrics(collectors, certify=certify))
    metrics.serve(collectors, settings.metrics)
    courier: EmbeddedFleet | RemoteFleet
    if settings.broker:
        courier = RemoteFleet(settings.broker, ticket.run_id)
    else:
        courier = EmbeddedFleet(
            concurrency=settings.concurrency,
            metrics=WorkerMetrics(collectors),
            auth_env=settings.auth_env,
            allow_exec=settings.allow_exec,
            callbacks=callbacks(settings),
        )
    await courier.open()
    run = Run(
        ticket.run_id,
        entries,
        assessment=assessment,
        limits=limits,
        ledger=ledger,
        courier=courier,
        watchers=watching,
        resumed=ticket.resumed,
    )
    loop = asyncio.get_running_loop()
    running = asyncio.ensure_future(run.execute())
    listening = asyncio.ensure_future(_watch_listeners(courier, settings.broker))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, running.cancel)
    finished = False
    try:
        await running
        finished = True
    except asyncio.CancelledError:
        pass  # by a signal
    finally:
        if not finished:
            log.warning("interrupted", run=ticket.run_id, resume=f"--resume {ticket.run_id}")
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        listening.cancel()
        await courier.aclose(finished=finished)
    return not finished


async def _watch_listeners(courier: Courier, broker: str) -> None:
    """Say which queues hold parcels that no worker fetches: the run would wait for ever, and look as if it hung."""
    told: set[str] = set()
    while True:
        await asyncio.sleep(LISTENERS_S)
        for name, depth in (await courier.depths()).items():
            if depth.waiting and not depth.consumers and name not in told:
                told.add(name)
                log.warning(
                    "no worker listens",
                    queue=name,
                    waiting=depth.waiting,
                    start=f"skillmark worker --broker {redacted(broker)}",
                )
