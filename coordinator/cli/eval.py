"""``skillmark eval``: the functional pillar alone."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coordinator.cli import _failures, _options, _results
from coordinator.cli._several import Several, SeveralCommand

if TYPE_CHECKING:
    from coordinator.evaluating import Intended


@click.command(cls=SeveralCommand, short_help="Evaluate skills on benchmarks: the functional pillar alone.")
@click.option(
    "--skills",
    cls=Several,
    required=True,
    type=click.Path(path_type=Path),
    metavar="PATH...",
    help="A manifest, a list of them, or a folder; several in a row, or repeated.",
)
@click.option(
    "--benchmark",
    "benchmarks",
    cls=Several,
    metavar="ID|PATH...",
    help="Benchmarks by id or path; several, or repeated.",
)
@click.option(
    "--tasks", type=click.Path(path_type=Path), metavar="FILE", help="A JSON file of tasks alone, beside or instead."
)
@_results.format_option
@click.option("--json", "as_json", is_flag=True, help="The results as one JSON object on stdout, instead of the table.")
@click.option(
    "--min-completion",
    type=click.FloatRange(0, 1),
    default=0.7,
    show_default=True,
    help="The completion rate that a skill passes with.",
)
@click.option("--exit-on-fail", is_flag=True, help="Exit with 1 unless every skill passes.")
@_options.repeats
@click.option("--dry-run", is_flag=True, help="Check everything and say what would be run; nothing is called.")
@click.option("--resume", default="", metavar="RUN", help="Go on with a run that was cut short; same skills and store.")
@_options.settings(
    "benchmarks_dir",
    "policy",
    "out",
    "allow_network",
    "allow_exec",
    "auth_env",
    "concurrency",
    "broker",
    "store",
    "metrics",
)
def command(
    skills: tuple[Path, ...],
    benchmarks: tuple[str, ...],
    tasks: Path | None,
    formats: tuple[str, ...],
    as_json: bool,
    min_completion: float,
    exit_on_fail: bool,
    repeats: int | None,
    k: int | None,
    dry_run: bool,
    resume: str,
    **flags: Any,
) -> None:
    """Ask skills the tasks of benchmarks and say how many they complete: no attack, no load, no certificate.

    Without --benchmark and --tasks each skill is asked its own example, test cases and edge cases, as `certify` does.

    \b
    Examples:
      skillmark eval --skills calculator/skill.json search/ --benchmark coding-easy --runs 3
      skillmark eval --skills catalog/ --tasks tasks.json --format json markdown html --out out/
      skillmark eval --skills catalog/ --benchmark coding-easy --exit-on-fail --min-completion 0.8
      skillmark eval --skills catalog/ --benchmark coding-easy --dry-run
    """
    from coordinator.cli._watching import watching
    from coordinator.evaluating import Request, evaluate, intended
    from coordinator.inputs import entries
    from coordinator.report import scores
    from coordinator.scorecard import Grade
    from workers.wire import logs

    logs.configure()
    settings = _options.resolve(flags)
    request = Request(
        skills=skills,
        benchmarks=benchmarks,
        tasks=tasks,
        min_completion=min_completion,
        repeats=repeats,
        k=k,
        formats=formats,
        resume=resume,
    )
    if dry_run:
        would = intended(request, settings)
        _print_intended(would, as_json=as_json)
        sys.exit(_failures.INCOMPLETE if would.rejected else _failures.DONE)
    with ExitStack() as stack:
        with watching(lambda: sum(1 for _ in entries(skills)), "evaluating") as watchers:
            outcome = stack.enter_context(evaluate(request, settings, watchers=watchers))
        report = outcome.report
        _results.show(
            report,
            outcome.written,
            formats,
            lambda console: scores.show(console, report.records()),
            as_json=as_json,
        )
    code = _failures.exit_code(
        outcome.counts, passed=Grade.PASSED, interrupted=outcome.interrupted, exit_on_fail=exit_on_fail
    )
    sys.exit(code)


def _print_intended(would: Intended, *, as_json: bool) -> None:
    import msgspec

    from coordinator.report.escape import terminal

    if as_json:
        click.echo(json.dumps(msgspec.to_builtins(would), indent=2))
        return
    for reason in would.rejected:
        click.echo(f"rejected  {terminal(reason)}")
    for name, tasks in would.benchmarks.items():
        click.echo(f"benchmark {terminal(name)}: {tasks} tasks")
    runs = "once" if would.repeats == 1 else f"{would.repeats} times"
    skills = _results.counted(would.skills, "skill")
    click.echo(f"{skills}, {len(would.rejected)} rejected, {would.uncalled} without a live endpoint")
    click.echo(f"{_results.counted(would.jobs, 'job')}, each task {runs}; nothing was called")
    for host, requests in sorted(would.requests_by_host.items()):
        click.echo(f"  {terminal(host)}: {requests} requests or more")
