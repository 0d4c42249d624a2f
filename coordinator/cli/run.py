"""``skillmark run``: runs that were made."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from coordinator.cli import _options, _results
from coordinator.cli._several import SeveralCommand


@click.group(short_help="The runs that were made.")
def command() -> None:
    """The runs that the store knows."""


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
    from coordinator.cli.certify import exit_code
    from coordinator.rejudging import Request, rejudge_run
    from coordinator.report import table
    from workers.wire import logs

    logs.configure()
    request = Request(run=run, catalog=catalog, benchmarks=benchmarks, formats=formats)
    with rejudge_run(request, _options.resolve(flags)) as outcome:
        report = outcome.report
        _results.show(
            report,
            () if as_json else outcome.written,
            ("json",) if as_json else formats,
            lambda console: table.show(console, report.records(), report.policy),
        )
    sys.exit(exit_code(outcome, exit_on_fail=exit_on_fail, fail_under=fail_under))
