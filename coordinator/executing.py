"""Running a run: the loop, the fleet in this process or behind a broker, the metrics, the signals that end it early."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import structlog
import uvloop

from coordinator.catalog.skill import Entry
from coordinator.courier import Courier
from coordinator.embedded import EmbeddedFleet
from coordinator.ledger.ledger import Ledger
from coordinator.policy import Limits
from coordinator.run import Assessment, Run, Watcher
from coordinator.settings import Settings, callbacks, redacted
from coordinator.tickets import Ticket

if TYPE_CHECKING:
    from coordinator.metrics import Metrics as RunMetrics
    from coordinator.remote import RemoteFleet
    from workers.metrics import Metrics as JobMetrics

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
    measured = served(settings, certify=certify) if settings.metrics else None
    watching = (*watchers, measured.run) if measured else tuple(watchers)
    courier: EmbeddedFleet | RemoteFleet
    if settings.broker:
        from coordinator.remote import RemoteFleet  # not at the top: pika would slow every start

        courier = RemoteFleet(settings.broker, ticket.run_id)
    else:
        courier = EmbeddedFleet(
            concurrency=settings.concurrency,
            metrics=measured.jobs if measured else None,
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


class Measured(NamedTuple):
    """What counts how a *run* goes, and the *jobs* of the workers in this process."""

    run: RunMetrics
    jobs: JobMetrics


def served(settings: Settings, *, certify: bool = True) -> Measured:
    """The metrics of this process, served from now on where *settings* say.

    Raises:
        SettingsError: If nobody can listen there.
    """
    from prometheus_client import CollectorRegistry  # not at the top: slow to import, and most runs tell nobody

    from coordinator import metrics
    from workers.metrics import Metrics

    collectors = CollectorRegistry()
    metrics.serve(collectors, settings.metrics)
    return Measured(metrics.Metrics(collectors, certify=certify), Metrics(collectors))


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
