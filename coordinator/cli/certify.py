"""``skillmark certify``: the main job."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coordinator.cli import _failures, _options

if TYPE_CHECKING:
    from coordinator.certifying import Outcome


@click.command(short_help="Certify every skill of a catalog.")
@click.argument("catalog", type=click.Path(path_type=Path))
@click.option("--benchmark", "benchmarks", multiple=True, metavar="ID|PATH", help="A benchmark; may be repeated.")
@click.option(
    "--mode", type=click.Choice(["live", "static"]), default="live", show_default=True, help="Call the skills?"
)
@click.option("--json", "as_json", is_flag=True, help="The records as one JSON object on stdout, instead of the table.")
@click.option("--exit-on-fail", is_flag=True, help="Exit with 1 unless every skill is certified.")
@click.option("--fail-under", type=click.FloatRange(0, 100), help="Exit with 1 if an overall score is below this.")
@_options.settings(
    "benchmarks_dir", "policy", "out", "allow_network", "allow_exec", "concurrency", "broker", "store", "metrics"
)
def command(
    catalog: Path,
    benchmarks: tuple[str, ...],
    mode: str,
    as_json: bool,
    exit_on_fail: bool,
    fail_under: float | None,
    **flags: Any,
) -> None:
    """Certify every skill of CATALOG: a folder of manifests, or one JSON, JSONL or YAML file.

    Without --broker everything happens in this process, with nothing to install or start.

    \b
    Examples:
      skillmark certify catalog/ --out out/
      skillmark certify skills.jsonl --benchmark coding-easy --exit-on-fail
      skillmark certify catalog/ --allow-network 127.0.0.0/8 --json | jq .counts
      skillmark certify catalog/ --broker amqp://guest:guest@localhost/
    """
    from rich.console import Console

    from coordinator.catalog import index
    from coordinator.certify import Mode
    from coordinator.certifying import Request, certify_catalog
    from coordinator.cli._progress import Bar
    from workers.wire import logs

    logs.configure()
    settings = _options.resolve(flags)
    request = Request(catalog=catalog, benchmarks=benchmarks, mode=Mode(mode))
    with ExitStack() as stack:
        with Bar(Console(stderr=True), lambda: sum(1 for _ in index.entries(catalog))) as bar:
            outcome = stack.enter_context(certify_catalog(request, settings, watchers=(bar,)))
        (_print_json if as_json else _print_table)(outcome)
    sys.exit(_exit_code(outcome, exit_on_fail=exit_on_fail, fail_under=fail_under))


def _exit_code(outcome: Outcome, *, exit_on_fail: bool, fail_under: float | None) -> int:
    from coordinator.certify import Decision

    if outcome.interrupted:
        return _failures.INTERRUPTED
    too_low = fail_under is not None and outcome.lowest is not None and outcome.lowest < fail_under
    if too_low or (exit_on_fail and set(outcome.counts) - {Decision.CERTIFIED}):
        return _failures.GATE_FAILED
    undone = {Decision.INCOMPLETE, Decision.REJECTED} & set(outcome.counts)
    return _failures.INCOMPLETE if undone else _failures.DONE


def _print_table(outcome: Outcome) -> None:
    from rich.console import Console

    from coordinator import record
    from coordinator.report import table

    # Off a terminal nothing is folded to a width: another program reads it line by line.
    console = Console(width=None if sys.stdout.isatty() else 10_000)
    table.show(console, map(record.parse, outcome.lines()), outcome.policy)
    if outcome.written:
        console.print()
    for path in outcome.written:
        console.print(f"wrote {path}", highlight=False, markup=False)


def _print_json(outcome: Outcome) -> None:
    """One object, written line by line: a large catalog's records are never held together."""
    from coordinator.certify import Decision

    counts = {verdict.value: outcome.counts.get(verdict, 0) for verdict in Decision}
    click.echo(f'{{"run_id": {json.dumps(outcome.run_id)}, "counts": {json.dumps(counts)}, "results": [', nl=False)
    for number, line in enumerate(outcome.lines()):
        click.echo((",\n" if number else "\n") + line.decode("ascii"), nl=False)
    click.echo("\n]}")
