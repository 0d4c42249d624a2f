"""What `run rejudge` does: the stored answers of a run before today's corpus, detectors and policy. Nothing is sent.

The catalog and the benchmarks have to be those of the first run: job ids, and with them the texts that were sent,
derive from them. Corpus and policy may be others; that is what it is for. An attack that the first run did not send is
missing evidence. The new run has records of its own; the answers stay with the run that got them, so that judging a
second time starts from the same answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from coordinator import discovery
from coordinator.catalog import index
from coordinator.catalog.skill import Entry, Rejection
from coordinator.certification import Certification
from coordinator.certify import Mode
from coordinator.certifying import Outcome, outcome_of
from coordinator.corpora import checked_corpus
from coordinator.inputs import chosen_benchmarks, chosen_policy, default_store, osv_database, report_folder
from coordinator.ledger.ledger import Ledger, RunSummary
from coordinator.plan import Plan, Planner
from coordinator.record import Header, Stamps
from coordinator.report import formats
from coordinator.run import PLACES, Concluded, Watcher
from coordinator.settings import Settings, SettingsError
from coordinator.static.context import advisories_digest, static_context
from coordinator.tally import DECIDED
from coordinator.tickets import begin, catalog_digest
from workers import registry
from workers.faults import BadJob
from workers.wire.job import PILLAR_OF, SecurityJob
from workers.wire.result import Judged, Result, Unjudged
from workers.wire.version import __version__

COMMAND = "certify"
ORIGIN = "origin"
NOT_SENT = "the run that is judged again did not send this attack"

log = structlog.get_logger(__name__)


class Request(Struct, frozen=True, kw_only=True):
    """Which *run* is judged again. *catalog* is where its catalog is now, None: where it was.

    *benchmarks* are names or paths of those that the run had, where their ids alone do not lead to them. *formats* are
    those of the reports; none given: the usual ones.
    """

    run: str
    catalog: Path | None = None
    benchmarks: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()


@contextmanager
def rejudge_run(request: Request, settings: Settings, *, watchers: Sequence[Watcher] = ()) -> Iterator[Outcome]:
    """Judge *request*'s run again and write the reports; the outcome can be read until the context ends.

    Raises:
        CatalogError, BenchmarkError, CorpusError, PolicyError, AdvisoriesError: On bad input.
        SettingsError: If there is no such run, or catalog or benchmarks are others than it had.
        LedgerError: If the store cannot be reached.
    """
    names = formats.checked(request.formats) or formats.DEFAULT
    corpus = checked_corpus(settings.corpus)
    out = report_folder(settings.out)
    ledger = Ledger.open(settings.store or default_store())
    try:
        origin = _origin(ledger, request.run)
        begun = origin.stamps
        rules = chosen_policy(settings, repeats=begun.get("repeats"), k=begun.get("k"))
        catalog = request.catalog or Path(origin.catalog)
        _same(origin, "catalog", catalog_digest(index.entries(catalog)))
        chosen = chosen_benchmarks(request.benchmarks or tuple(begun.get("benchmarks", {})), settings, rules)
        _same(origin, "benchmarks", {benchmark.id: benchmark.digest for benchmark in chosen})
        stamps = Stamps(
            engine=__version__,
            policy=rules.digest,
            corpus=corpus.digest,
            benchmarks=begun.get("benchmarks", {}),
            origin=origin.id,
            advisories=advisories_digest(osv_database(settings)),
        )
        ticket = begin(
            ledger,
            "",
            mode=origin.mode,
            catalog=str(catalog),
            stamps={**begun, "command": "rejudge", **msgspec.to_builtins(stamps)},
        )
        planner = Planner(
            run_id=origin.id,
            policy=rules,
            corpus=corpus,
            benchmarks=chosen,
            allow_networks=begun.get("allow-network", ()),
            allow_exec=begun.get("allow-exec", False),
            attacks=begun.get("attacks"),
        )
        header = Header(run_id=ticket.run_id, mode=Mode.LIVE, stamps=stamps)
        state = "interrupted"
        try:
            with static_context(catalog, rules, osv_database(settings)) as context:
                stored = _Stored(ledger, origin.id, Certification(header, planner, context))
                for place, concluded in stored.conclusions(index.entries(catalog)):
                    ledger.enter(ticket.run_id, [_row(place, concluded)])
                    for watcher in watchers:
                        watcher.concluded(concluded)
            state = "ended"
        finally:
            ledger.end(ticket.run_id, state=state)
        yield outcome_of(ticket.run_id, ledger, rules, out, False, origin=origin.id, names=names)
    finally:
        ledger.close()


def _origin(ledger: Ledger, run_id: str) -> RunSummary:
    """The run whose calls are judged: *run_id* or, where that was judged again itself, the one that it came from.

    Raises:
        SettingsError: If there is none, or it called nobody.
    """
    found = ledger.summary(run_id)
    if found is None:
        raise SettingsError(f"run: expected a run that this store knows, found {run_id[:100]!r}; check --store")
    first = found.stamps.get(ORIGIN)
    if first is not None:
        return _origin(ledger, first)
    if found.stamps.get("command") != COMMAND or found.mode != Mode.LIVE:
        raise SettingsError(f"run: expected a live run of {COMMAND}, found {run_id}, which attacked nobody")
    if found.state == "running":
        log.warning("the run was not closed: what it has until now is judged", run=run_id)
    return found


def _same(origin: RunSummary, name: str, now: Any) -> None:
    begun = origin.stamps.get(name)
    if begun != now:
        raise SettingsError(f"{name}: expected what {origin.id} was run with, {begun}, found {now}")


class _Stored:
    """The answers of the run *origin*, before *assessment*."""

    def __init__(self, ledger: Ledger, origin: str, assessment: Certification) -> None:
        self._ledger = ledger
        self._origin = origin
        self._assessment = assessment

    def conclusions(self, entries: Iterator[Entry]) -> Iterator[tuple[int, Concluded]]:
        """What is said of each entry, with its place among the records."""
        for position, entry in enumerate(entries):
            yield from self._conclude(position * PLACES, entry)

    def _conclude(self, place: int, entry: Entry) -> Iterator[tuple[int, Concluded]]:
        if isinstance(entry, Rejection):
            yield place, self._assessment.reject(entry)
            return
        plan = self._assessment.plan(entry)
        if plan is None:
            yield place, self._assessment.uncalled(entry)
            return
        results = self._ledger.results(self._origin, entry.digest)
        tools = discovery.entries(entry, results.values()) if plan.discovers else None
        if tools is not None:
            for below, tool in enumerate(tools, place + 1):
                yield from self._conclude(below, tool)
            return
        judged = asyncio.run(self._again(plan, results))
        yield place, self._assessment.judge(entry, _without_evidence(plan, results, judged), judged)

    async def _again(self, plan: Plan, results: Mapping[str, Result]) -> dict[str, Result]:
        """*results* as they are, but for those of attacks, which are judged again."""
        judged = dict(results)
        for stage in plan.stages:
            for job in stage.jobs.values():
                if isinstance(job, SecurityJob):
                    judged[job.id] = await self._rejudge(job, plan, results.get(job.id))
        return judged

    async def _rejudge(self, job: SecurityJob, plan: Plan, known: Result | None) -> Result:
        if known is None:
            return self._unjudged(job, plan, NOT_SENT)
        if not isinstance(known, Judged):
            return known
        try:
            verdict = await registry.rejudge(job, plan.ref, known.verdict)
        except BadJob as error:
            return self._unjudged(job, plan, str(error))
        except Exception as error:
            # As in a worker: a bug of ours is our failure, never the skill's, and no reason to stop.
            log.error("probe crashed", job=job.id, probe=job.probe, error=type(error).__name__)
            return self._unjudged(job, plan, f"the probe itself failed: {type(error).__name__}")
        return msgspec.structs.replace(known, verdict=verdict)

    def _unjudged(self, job: SecurityJob, plan: Plan, reason: str) -> Unjudged:
        return Unjudged(
            job_id=job.id,
            run_id=self._origin,
            skill_digest=plan.ref.digest,
            pillar=PILLAR_OF[type(job)],
            probe=job.probe,
            reason=reason[:2000],
        )


def _without_evidence(plan: Plan, results: Mapping[str, Result], judged: Mapping[str, Result]) -> Plan:
    """*plan*, the attacks marked as left out that were not sent, or whose answers no longer decide what they did.

    However little they weigh: judging again gives no certificate that rests on attacks nobody answered.
    """
    attacks = {id_ for stage in plan.stages for id_, job in stage.jobs.items() if isinstance(job, SecurityJob)}
    open_ = {id_ for id_ in attacks if id_ not in results or (_decides(results[id_]) and not _decides(judged[id_]))}
    planned = tuple(msgspec.structs.replace(one, left_out=True) if one.job_id in open_ else one for one in plan.planned)
    return msgspec.structs.replace(plan, planned=planned)


def _decides(result: Result) -> bool:
    return isinstance(result, Judged) and result.verdict.outcome in DECIDED


def _row(place: int, concluded: Concluded) -> tuple[int, str, str, float | None, bytes]:
    return place, concluded.skill_id, concluded.verdict, concluded.overall, concluded.line
