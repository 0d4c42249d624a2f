"""What `eval` does, from settings to reports: the parts are put together here and nowhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from benchmarks.loader import Benchmark
from coordinator.catalog.skill import Rejection
from coordinator.evaluation import Evaluation
from coordinator.executing import execute
from coordinator.functional_jobs import requests_of
from coordinator.inputs import chosen_benchmarks, chosen_policy, conditions, default_store, entries, report_folder
from coordinator.ledger.ledger import Ledger
from coordinator.plan import Planner
from coordinator.policy import Policy
from coordinator.record import located
from coordinator.report import formats
from coordinator.report.report import EvaluationReport
from coordinator.run import Watcher
from coordinator.scorecard import Grade, Header, Stamps
from coordinator.settings import Settings
from coordinator.tickets import begin, catalog_digest
from workers.wire.version import __version__

MODE = "eval"


class Request(Struct, frozen=True, kw_only=True):
    """What is to be evaluated, as `certifying.Request` says it; without benchmarks and tasks, the skills' own tests.

    *min_completion* is the completion rate, 0 to 1, that a skill passes with.
    """

    skills: tuple[Path, ...]
    benchmarks: tuple[str, ...] = ()
    tasks: Path | None = None
    min_completion: float = 0.7
    repeats: int | None = None
    k: int | None = None
    formats: tuple[str, ...] = ()
    resume: str = ""


class Outcome(Struct, frozen=True, kw_only=True):
    """How it ended: skills by grade, whether it was cut short, and what was written; *report* reads the ledger."""

    report: EvaluationReport
    counts: dict[Grade, int]
    interrupted: bool
    written: tuple[Path, ...]


class Intended(Struct, frozen=True, kw_only=True):
    """What an evaluation would do: entries read, and the jobs and requests that skills which answer well would cost."""

    skills: int
    uncalled: int
    rejected: tuple[str, ...]
    benchmarks: dict[str, int]
    repeats: int
    jobs: int
    requests_by_host: dict[str, int]


def intended(request: Request, settings: Settings) -> Intended:
    """What `evaluate` would do with *request*; nothing is called and nothing written.

    Raises:
        CatalogError, BenchmarkError, PolicyError, SettingsError: On bad input.
    """
    formats.checked(request.formats)
    rules, chosen = _rules(request, settings)
    assessment = _evaluation(request, settings, rules, chosen, run_id="intended")
    skills = uncalled = jobs = 0
    rejected: list[str] = []
    requests: Counter[str] = Counter()
    for entry in entries(request.skills):
        if isinstance(entry, Rejection):
            rejected.append(f"{located(entry)}: expected {entry.expected}, found {entry.found}")
            continue
        skills += 1
        plan = assessment.plan(entry)
        if plan is None:
            uncalled += 1
            continue
        for stage in plan.stages:
            jobs += len(stage.jobs)
            requests[plan.host or urlsplit(plan.ref.access.endpoint).scheme] += sum(
                requests_of(job) for job in stage.jobs.values()
            )
    return Intended(
        skills=skills,
        uncalled=uncalled,
        rejected=tuple(rejected),
        benchmarks={benchmark.id: len(benchmark.tasks) for benchmark in chosen},
        repeats=rules.functional.repeats,
        jobs=jobs,
        requests_by_host=dict(requests),
    )


@contextmanager
def evaluate(request: Request, settings: Settings, *, watchers: Sequence[Watcher] = ()) -> Iterator[Outcome]:
    """Evaluate *request* and write the reports; the outcome can be read until the context ends.

    Raises:
        CatalogError, BenchmarkError, PolicyError, SettingsError: Before any traffic, on bad input.
        LedgerError, BrokerUnreachable: If store or broker cannot be reached.
    """
    names = formats.checked(request.formats) or formats.DEFAULT
    rules, chosen = _rules(request, settings)
    catalog = catalog_digest(entries(request.skills))
    out = report_folder(settings.out)
    stamps = _stamps(request, rules, chosen)
    decides = {"command": "eval", "catalog": catalog, **conditions(settings, rules), **msgspec.to_builtins(stamps)}
    ledger = Ledger.open(settings.store or default_store())
    try:
        given = " ".join(map(str, request.skills))
        ticket = begin(ledger, request.resume, mode=MODE, catalog=given, stamps=decides)
        assessment = _evaluation(request, settings, rules, chosen, run_id=ticket.run_id)
        interrupted = execute(
            ticket,
            entries(request.skills),
            assessment,
            rules.limits,
            ledger,
            settings,
            watchers=watchers,
            certify=False,
        )
        report = EvaluationReport(
            run_id=ticket.run_id,
            policy=rules,
            interrupted=interrupted,
            lines=lambda: ledger.records(ticket.run_id),
        )
        yield Outcome(
            report=report,
            counts=dict(Counter(one.verdict for one in report.records())),
            interrupted=interrupted,
            written=formats.write(out, names, report) if out else (),
        )
    finally:
        ledger.close()


def _rules(request: Request, settings: Settings) -> tuple[Policy, list[Benchmark]]:
    rules = chosen_policy(settings, repeats=request.repeats, k=request.k)
    return rules, chosen_benchmarks(request.benchmarks, settings, rules, tasks=request.tasks)


def _stamps(request: Request, rules: Policy, chosen: Sequence[Benchmark]) -> Stamps:
    return Stamps(
        engine=__version__,
        policy=rules.digest,
        benchmarks={benchmark.id: benchmark.digest for benchmark in chosen},
        min_completion=request.min_completion,
    )


def _evaluation(
    request: Request, settings: Settings, rules: Policy, chosen: Sequence[Benchmark], *, run_id: str
) -> Evaluation:
    planner = Planner(
        run_id=run_id,
        policy=rules,
        benchmarks=chosen,
        allow_networks=settings.allow_network,
        allow_exec=settings.allow_exec,
        attacks=(),
    )
    return Evaluation(
        Header(run_id=run_id, stamps=_stamps(request, rules, chosen)),
        planner,
        rules,
        groups=frozenset(benchmark.id for benchmark in chosen),
        min_completion=request.min_completion,
    )
