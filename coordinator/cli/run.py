"""``skillmark run``: runs that were made."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coordinator.cli import _options, _results
from coordinator.cli._several import SeveralCommand

if TYPE_CHECKING:
    from rich.console import Console


@click.group(short_help="The runs that were made: list them, report on one or judge it again.")
def command() -> None:
    """The runs that the store knows."""


@command.command("list")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="The latest so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@_options.settings("store")
def list_(limit: int, as_json: bool, **flags: Any) -> None:
    """List the latest runs, the latest first: what can be resumed or judged again.

    \b
    Examples:
      skillmark run list
      skillmark run list --limit 1 --json | jq -r .id
    """
    import msgspec

    from coordinator.inputs import default_store
    from coordinator.ledger.ledger import Ledger
    from coordinator.report.escape import terminal

    ledger = Ledger.open(_options.resolve(flags).store or default_store())
    try:
        found = ledger.summaries(limit)
    finally:
        ledger.close()
    if not found:
        click.echo("this store knows no run; --store names another", err=True)
    for one in found:
        if as_json:
            click.echo(msgspec.json.encode(one))
            continue
        verdicts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(one.verdicts.items()))
        click.echo(terminal(f"{one.id}  {one.state:<11}  {one.mode:<6}  {one.catalog}  {verdicts}"))


@command.command(cls=SeveralCommand)
@click.argument("run", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="The records as one JSON object on stdout, instead of the table.")
@_results.format_option
@_options.settings("policy", "out", "store")
def export(run: str, as_json: bool, formats: tuple[str, ...], **flags: Any) -> None:
    """Write the reports of RUN again, from the store; no skill is called and nothing is judged.

    \b
    Examples:
      skillmark run export 20260921-101500-0123456789abcdef --out out/
      skillmark run export 20260921-101500-0123456789abcdef --format csv > results.csv
    """
    from coordinator.exporting import export_run
    from coordinator.report import scores, table
    from coordinator.report.report import CertificationReport
    from workers.wire import logs

    logs.configure()
    with export_run(run, _options.resolve(flags), names=formats) as exported:
        report = exported.report

        def show(console: Console) -> None:
            if isinstance(report, CertificationReport):
                table.show(console, report.records(), report.policy)
            else:
                scores.show(console, report.records())

        _results.show(report, exported.written, formats, show, as_json=as_json)


@command.command(cls=SeveralCommand)
@click.argument("run", metavar="RUN")
@click.option(
    "--catalog", type=click.Path(path_type=Path), help="Where the run's catalog is now, if no longer where it was."
)
@click.option(
    "--benchmark", "benchmarks", multiple=True, metavar="ID|PATH", help="Where a benchmark of the run is now."
)
@click.option("--json", "as_json", is_flag=True, help="The records as one JSON object on stdout, instead of the table.")
@_results.format_option
@click.option("--exit-on-fail", is_flag=True, help="Exit with 1 unless every skill is certified.")
@click.option("--fail-under", type=click.FloatRange(0, 100), help="Exit with 1 if an overall score is below this.")
@_options.settings("benchmarks_dir", "policy", "corpus", "osv_database", "out", "store")
def rejudge(
    run: str,
    catalog: Path | None,
    benchmarks: tuple[str, ...],
    as_json: bool,
    formats: tuple[str, ...],
    exit_on_fail: bool,
    fail_under: float | None,
    **flags: Any,
) -> None:
    """Judge the stored answers of RUN with today's attacks, detectors and policy; no skill is called.

    The verdicts are those of a new run, stamped with its origin. Where an answer was not kept whole, or an attack was
    not sent then, the verdict is incomplete: run `certify` again.

    \b
    Examples:
      skillmark run rejudge 20260921-101500-0123456789abcdef --out out/
      skillmark run rejudge 20260921-101500-0123456789abcdef --corpus mine/
    """
    from coordinator.rejudging import Request, rejudge_run
    from workers.wire import logs

    logs.configure()
    request = Request(run=run, catalog=catalog, benchmarks=benchmarks, formats=formats)
    with rejudge_run(request, _options.resolve(flags)) as outcome:
        code = _results.show_certification(
            outcome, formats, as_json=as_json, exit_on_fail=exit_on_fail, fail_under=fail_under
        )
    sys.exit(code)
