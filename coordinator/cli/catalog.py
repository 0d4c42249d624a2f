"""``skillmark catalog``: look at a catalog without calling anything."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from coordinator.cli import _failures


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
        click.echo(f"{skills} skills, {rejected} rejected")
    sys.exit(_failures.INCOMPLETE if rejected else _failures.DONE)
