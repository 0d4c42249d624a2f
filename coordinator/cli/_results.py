"""The options that name report formats, and what a run prints on stdout."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coordinator.cli import _failures
from coordinator.cli._several import Several

if TYPE_CHECKING:
    from rich.console import Console

    from coordinator.certifying import Outcome
    from coordinator.report.report import Report

F = TypeVar("F", bound=Callable[..., Any])

# Named here as well as in coordinator.report, whose import would cost each start-up; a test holds them together.
FORMATS = ("csv", "html", "json", "jsonl", "junit", "markdown", "sarif", "summary")


def format_option(function: F) -> F:
    """``--format``: which reports, to the folder or to stdout."""
    return click.option(
        "--format",
        "formats",
        cls=Several,
        among=FORMATS,
        type=click.Choice(FORMATS),
        help="Reports: to the folder of --out or, without one, to stdout. Several at once, or repeated.",
    )(function)


def show_certification(
    outcome: Outcome,
    formats: Sequence[str],
    *,
    as_json: bool,
    exit_on_fail: bool,
    fail_under: float | None,
) -> int:
    """Print what a certification came to, as `show` does; the exit code."""
    from coordinator.certify import Decision
    from coordinator.report import table

    report = outcome.report
    show(
        report,
        outcome.written,
        formats,
        lambda console: table.show(console, report.records(), report.policy),
        as_json=as_json,
    )
    return _failures.exit_code(
        outcome.counts,
        passed=Decision.CERTIFIED,
        interrupted=outcome.interrupted,
        exit_on_fail=exit_on_fail,
        fail_under=fail_under,
        lowest=outcome.lowest,
    )


def show(
    report: Report,
    written: Sequence[Path],
    formats: Sequence[str],
    table: Callable[[Console], None],
    *,
    as_json: bool,
) -> None:
    """Print the *formats* of *report* that were not written to a folder; without any, its *table*.

    *as_json*: nothing but the report for machines, wherever else it went. How to go on with a run that was cut short
    comes last, on stderr.
    """
    _print(report, () if as_json else written, ("json",) if as_json else formats, table)
    if report.interrupted:
        click.echo("Cut short; what was judged is kept. To go on, run the same command with", err=True)
        click.echo(f"  --resume {report.run_id}", err=True)


def _print(report: Report, written: Sequence[Path], formats: Sequence[str], table: Callable[[Console], None]) -> None:
    if formats and not written:
        from coordinator.report.formats import renderers

        for name in dict.fromkeys(formats):
            for piece in renderers()[name].render(report):
                click.echo(piece, nl=False)
        return
    from rich.console import Console

    # Off a terminal nothing is folded to a width: another program reads it line by line.
    console = Console(width=None if sys.stdout.isatty() else 10_000)
    table(console)
    if written:
        console.print()
    for path in written:
        console.print(f"wrote {path}", highlight=False, markup=False)


def counted(count: int, noun: str) -> str:
    """*count* of what *noun* is one of."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
