"""What `certify` does, from settings to reports: the parts are put together here and nowhere else."""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import structlog
import uvloop
from msgspec import Struct
from prometheus_client import CollectorRegistry

from benchmarks import loader as benchmark_loader
from benchmarks.loader import Benchmark
from coordinator import metrics, policy, record
from coordinator.catalog import index
from coordinator.catalog.skill import Entry
from coordinator.certify import Decision, Mode
from coordinator.courier import Courier
from coordinator.embedded import EmbeddedFleet
from coordinator.ledger.ledger import Ledger
from coordinator.plan import Planner
from coordinator.policy import Policy
from coordinator.record import Header, Record, Stamps
from coordinator.remote import RemoteFleet
from coordinator.report import jsonl, markdown
from coordinator.run import Run, Watcher
from coordinator.settings import Settings, SettingsError, metrics_address, redacted
from coordinator.tasks import benchmark_expectation
from payloads import loader as corpus_loader
from payloads.loader import Corpus, CorpusError
from workers import registry
from workers.metrics import Metrics as WorkerMetrics
from workers.wire.version import __version__

LISTENERS_S = 5.0

log = structlog.get_logger(__name__)


class Request(Struct, frozen=True, kw_only=True):
    """What is to be certified."""

    catalog: Path
    benchmarks: tuple[str, ...] = ()
    mode: Mode = Mode.LIVE


class Outcome(Struct, frozen=True, kw_only=True):
    """How it ended: skills by verdict, the lowest overall score, whether it was cut short, and what was written.

    *lines* gives the lines of results.jsonl, each time from the start; it reads the ledger.
    """

    run_id: str
    policy: Policy
    counts: dict[Decision, int]
    lowest: float | None
    interrupted: bool
    written: tuple[Path, ...]
    lines: Callable[[], Iterator[bytes]]


@contextmanager
def certify_catalog(request: Request, settings: Settings, *, watchers: Sequence[Watcher] = ()) -> Iterator[Outcome]:
    """Certify *request* and write the reports; the outcome can be read until the context ends.

    Raises:
        CatalogError, BenchmarkError, CorpusError, PolicyError, SettingsError: Before any traffic, on bad input.
        LedgerError, BrokerUnreachable: If store or broker cannot be reached.
    """
    rules = policy.load(Path(settings.policy) if settings.policy else None)
    corpus = checked_corpus()
    chosen = _benchmarks(request.benchmarks, settings)
    entries = _opened(request.catalog)
    out = _folder(settings.out)
    header = Header(
        run_id=new_run_id(),
        mode=request.mode,
        stamps=Stamps(
            engine=__version__,
            policy=rules.digest,
            corpus=corpus.digest,
            benchmarks={benchmark.id: benchmark.digest for benchmark in chosen},
        ),
    )
    planner = Planner(
        run_id=header.run_id,
        policy=rules,
        corpus=corpus,
        benchmarks=chosen,
        allow_networks=settings.allow_network,
    )
    ledger = Ledger.open(settings.store or default_store())
    try:
        ledger.begin(header.run_id, mode=request.mode, catalog=str(request.catalog), stamps=record.stamped(header))
        interrupted = True
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                interrupted = runner.run(_run(header, entries, planner, rules, ledger, settings, watchers))
        finally:
            ledger.end(header.run_id, state="interrupted" if interrupted else "ended")
        yield _outcome(header.run_id, ledger, rules, out, interrupted)
    finally:
        ledger.close()


def new_run_id() -> str:
    """An id that sorts by time and that no skill can guess: the canaries derive from it."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(8)}"


def default_store() -> str:
    """The operator's own ledger, in the folder that the XDG base directory specification gives to state."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return f"sqlite:///{Path(state) / 'skillmark' / 'ledger.sqlite'}"


def checked_corpus() -> Corpus:
    """The attack corpus, each attack with a detector that exists.

    Raises:
        CorpusError: If any file of it is wrong.
    """
    corpus = corpus_loader.load()
    detectors = registry.names("detectors")
    for payload in corpus.payloads:
        if payload.detector not in detectors:
            file = Path(payload.category) / f"{payload.id}.yaml"
            raise CorpusError(file, "/detector", "one of " + ", ".join(detectors), payload.detector)
    return corpus


async def _run(
    header: Header,
    entries: Iterator[Entry],
    planner: Planner,
    rules: Policy,
    ledger: Ledger,
    settings: Settings,
    watchers: Sequence[Watcher],
) -> bool:
    """Run to the end, or to the first SIGINT or SIGTERM; whether it was cut short."""
    collectors = CollectorRegistry()
    watching = (*watchers, metrics.Metrics(collectors))
    if settings.metrics:
        host, port = metrics_address(settings.metrics)
        log.info("metrics", host=host, port=metrics.serve(collectors, host, port))
    courier: EmbeddedFleet | RemoteFleet
    if settings.broker:
        courier = RemoteFleet(settings.broker, header.run_id)
    else:
        courier = EmbeddedFleet(concurrency=settings.concurrency, metrics=WorkerMetrics(collectors))
    await courier.open()
    run = Run(header, entries, policy=rules, planner=planner, ledger=ledger, courier=courier, watchers=watching)
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
        log.warning("interrupted", run=header.run_id)
    finally:
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


def _benchmarks(names: Sequence[str], settings: Settings) -> list[Benchmark]:
    folders = [Path(folder) for folder in settings.benchmarks_dir]
    chosen = [benchmark_loader.find(name, folders) for name in dict.fromkeys(names)]
    for benchmark in chosen:
        benchmark_expectation(benchmark)
    return chosen


def _opened(catalog: Path) -> Iterator[Entry]:
    """The catalog's entries; the first is read now: a catalog that is none is refused before anything starts."""
    entries = index.entries(catalog)
    return itertools.chain([next(entries)], entries)


def _folder(name: str) -> Path | None:
    if not name:
        return None
    path = Path(name)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"out: expected a folder that can be written, found {name}: {error.strerror}") from error
    return path


def _outcome(run_id: str, ledger: Ledger, rules: Policy, out: Path | None, interrupted: bool) -> Outcome:
    def lines() -> Iterator[bytes]:
        return ledger.records(run_id)

    def records() -> Iterator[Record]:
        return map(record.parse, lines())

    counts: Counter[Decision] = Counter()
    lowest: float | None = None
    for one in records():
        counts[one.verdict] += 1
        if one.overall is not None:
            lowest = one.overall if lowest is None else min(lowest, one.overall)
    return Outcome(
        run_id=run_id,
        policy=rules,
        counts=dict(counts),
        lowest=lowest,
        interrupted=interrupted,
        written=(jsonl.write(out, lines()), markdown.write(out, records, rules)) if out else (),
        lines=lines,
    )
