"""``skillmark catalog``: look at a catalog without calling anything."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from coordinator.cli import _failures, _options, _results


@click.group(short_help="Look at a catalog without calling anything.")
def command() -> None:
    """Look at a catalog without calling anything."""


@command.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def check(path: Path, as_json: bool) -> None:
    """Read every entry of PATH and say which are skills and which are rejected, and why.

    Exits with 4 if any entry was rejected.

    \b
    Examples:
      skillmark catalog check catalog/
      skillmark catalog check skills.jsonl --json
    """
    from coordinator.catalog import index
    from coordinator.catalog.skill import Rejection
    from coordinator.record import located
    from coordinator.report.escape import terminal

    skills = rejected = 0
    for entry in index.entries(path):
        if isinstance(entry, Rejection):
            rejected += 1
            told = {"rejected": located(entry), "expected": entry.expected, "found": entry.found}
            line = f"rejected  {terminal(str(entry))}"
        else:
            skills += 1
            told = {"skill": entry.id, "version": entry.version, "format": entry.format, "source": located(entry)}
            line = f"ok        {terminal(f'{entry.id} {entry.version} ({entry.format}, {located(entry)})')}"
        click.echo(json.dumps(told) if as_json else line)
    if not as_json:
        click.echo(f"{_results.counted(skills, 'skill')}, {rejected} rejected")
    sys.exit(_failures.INCOMPLETE if rejected else _failures.DONE)


@command.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--benchmark", "benchmarks", multiple=True, metavar="ID|PATH", help="A benchmark; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@_options.settings("benchmarks_dir", "policy", "corpus", "allow_exec")
def plan(path: Path, benchmarks: tuple[str, ...], as_json: bool, **flags: Any) -> None:
    """Say what certifying PATH would take: jobs by queue, requests by host. Nothing is called.

    \b
    Examples:
      skillmark catalog plan catalog/
      skillmark catalog plan servers.json --benchmark coding-easy --json
    """
    import msgspec

    from coordinator import policy
    from coordinator.catalog import index
    from coordinator.corpora import checked_corpus
    from coordinator.forecast import forecast
    from coordinator.inputs import chosen_benchmarks
    from coordinator.plan import Planner
    from coordinator.report.escape import terminal

    settings = _options.resolve(flags)
    rules = policy.load(Path(settings.policy) if settings.policy else None)
    planner = Planner(
        run_id="plan",
        policy=rules,
        corpus=checked_corpus(settings.corpus),
        benchmarks=chosen_benchmarks(benchmarks, settings, rules),
        allow_exec=settings.allow_exec,
    )
    told = forecast(index.entries(path), planner)
    if as_json:
        click.echo(json.dumps(msgspec.to_builtins(told)))
        return
    skills = _results.counted(told.skills, "skill")
    click.echo(f"{skills} to call, {told.uncalled} by static evidence alone, {told.rejected} rejected")
    if told.servers:
        servers = _results.counted(told.servers, "MCP server")
        click.echo(f"{servers}: each tool is a skill, discovered at run time and not counted here")
    for queue, jobs in sorted(told.jobs.items()):
        click.echo(f"  {queue:<24} {jobs:>8} jobs")
    attacks = f", besides those of {told.attacks} attacks, whose number depends on the answers" if told.attacks else ""
    click.echo(f"requests{attacks}:")
    for host, requests in sorted(told.requests.items()):
        click.echo(f"  {terminal(host):<24} {requests:>8} at least")
