"""What `certify` does, from settings to reports: the parts are put together here and nowhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct

from coordinator.catalog import index
from coordinator.certification import Certification
from coordinator.certify import Decision, Mode
from coordinator.corpora import checked_corpus, chosen_attacks
from coordinator.examinations import Examinations
from coordinator.examining import Terms, examine_catalog
from coordinator.executing import execute, served
from coordinator.inputs import chosen_benchmarks, chosen_policy, conditions, default_store, osv_database, report_folder
from coordinator.ledger.ledger import Ledger
from coordinator.plan import Planner
from coordinator.policy import Policy
from coordinator.record import Header, Record, Stamps
from coordinator.report import formats
from coordinator.report.report import CertificationReport
from coordinator.run import Watcher
from coordinator.settings import Settings
from coordinator.static.context import advisories_digest, static_context
from coordinator.tickets import begin, catalog_digest, files_digest
from workers.wire.job import Pillar
from workers.wire.version import __version__

log = structlog.get_logger(__name__)


class Request(Struct, frozen=True, kw_only=True):
    """What is to be certified; *resume* is the id of a run that was cut short and goes on.

    *repeats* and *k*, where given, take the place of the policy's. *formats* are those of the reports; none given: the
    usual ones.
    *only* and *categories* choose attacks. Those left out are evidence that is missing, so nothing is certified then.
    """

    catalog: Path
    benchmarks: tuple[str, ...] = ()
    mode: Mode = Mode.LIVE
    resume: str = ""
    repeats: int | None = None
    k: int | None = None
    formats: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


class Outcome(Struct, frozen=True, kw_only=True):
    """How it ended: skills by verdict, the lowest overall score, whether it was cut short, and what was written.

    *report* reads the ledger, each time from the start.
    """

    report: CertificationReport
    counts: dict[Decision, int]
    lowest: float | None
    interrupted: bool
    written: tuple[Path, ...]


@contextmanager
def certify_catalog(request: Request, settings: Settings, *, watchers: Sequence[Watcher] = ()) -> Iterator[Outcome]:
    """Certify *request* and write the reports; the outcome can be read until the context ends.

    Raises:
        CatalogError, BenchmarkError, CorpusError, PolicyError, SettingsError, AdvisoriesError: Before any traffic, on
            bad input.
        LedgerError, BrokerUnreachable: If store or broker cannot be reached.
    """
    names = formats.checked(request.formats) or formats.DEFAULT
    rules = chosen_policy(settings, repeats=request.repeats, k=request.k)
    corpus = checked_corpus(settings.corpus)
    attacks = chosen_attacks(corpus, request.only, request.categories)
    chosen = chosen_benchmarks(request.benchmarks, settings, rules)
    is_static = request.mode is Mode.STATIC
    if is_static and chosen:
        log.warning("static mode asks no benchmarks", left_out=[benchmark.id for benchmark in chosen])
        chosen = []
    if is_static:
        catalog = files_digest(index.unread(request.catalog))
    else:
        catalog = catalog_digest(index.entries(request.catalog))
    out = report_folder(settings.out)
    stamps = Stamps(
        engine=__version__,
        policy=rules.digest,
        corpus=corpus.digest,
        benchmarks={benchmark.id: benchmark.digest for benchmark in chosen},
        advisories=advisories_digest(osv_database(settings)),
    )
    decides = {
        "command": "certify",
        "mode": request.mode,
        "catalog": catalog,
        **conditions(settings, rules),
        **msgspec.to_builtins(stamps),
    }
    if attacks is not None:
        decides["attacks"] = sorted(attacks)
    ledger = Ledger.open(settings.store or default_store())
    try:
        ticket = begin(ledger, request.resume, mode=request.mode, catalog=str(request.catalog), stamps=decides)
        header = Header(run_id=ticket.run_id, mode=request.mode, stamps=stamps)
        planner = Planner(
            run_id=ticket.run_id,
            policy=rules,
            corpus=corpus,
            benchmarks=chosen,
            allow_networks=settings.allow_network,
            allow_exec=settings.allow_exec,
            attacks=attacks,
        )
        terms = Terms(
            header=header,
            catalog=request.catalog,
            policy=rules,
            database=osv_database(settings),
            now=datetime.now(UTC),
        )
        if is_static:
            watching = (*watchers, served(settings).run) if settings.metrics else tuple(watchers)
            interrupted = examine_catalog(ticket, terms, ledger, watching)
        else:
            with (
                static_context(terms.catalog, rules, terms.database, terms.now) as context,
                closing(Examinations(terms)) as elsewhere,
            ):
                interrupted = execute(
                    ticket,
                    index.entries(request.catalog),
                    Certification(header, planner, context, elsewhere),
                    rules.limits,
                    ledger,
                    settings,
                    watchers=watchers,
                )
        yield outcome_of(header.run_id, ledger, rules, out, interrupted, names=names)
    finally:
        ledger.close()


def outcome_of(
    run_id: str,
    ledger: Ledger,
    rules: Policy,
    out: Path | None,
    interrupted: bool,
    *,
    origin: str = "",
    names: Sequence[str] = formats.DEFAULT,
) -> Outcome:
    """How the run *run_id* ended, its reports written to *out*; *origin* is the run that made the calls, if another.

    *names* are the formats to be written beside results.jsonl.

    Raises:
        ReportsUnwritten: If the disk does not take them.
    """
    report = report_of(run_id, ledger, rules, interrupted, origin=origin)
    counts: Counter[Decision] = Counter()
    lowest: float | None = None
    for one in report.records():
        counts[one.verdict] += 1
        if one.overall is not None:
            lowest = one.overall if lowest is None else min(lowest, one.overall)
    return Outcome(
        report=report,
        counts=dict(counts),
        lowest=lowest,
        interrupted=interrupted,
        written=formats.write(out, names, report) if out else (),
    )


def report_of(
    run_id: str, ledger: Ledger, rules: Policy, interrupted: bool, *, origin: str = ""
) -> CertificationReport:
    """What renderers are given of the run *run_id*; *origin* is the run that made the calls, if another."""

    def requests(one: Record) -> Mapping[Pillar, int]:
        called = one.skill.digest and one.mode is Mode.LIVE
        return ledger.requests(origin or run_id, one.skill.digest or "") if called else {}

    return CertificationReport(
        run_id=run_id,
        policy=rules,
        interrupted=interrupted,
        lines=lambda: ledger.records(run_id),
        requests=requests,
    )
