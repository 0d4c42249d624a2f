"""``skillmark report``: what can be done with the results of a run."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import click

from coordinator.cli import _failures


@click.group(short_help="Compare the results of two runs.")
def command() -> None:
    """Compare the results of two runs."""


@command.command()
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, instead of the table.")
def diff(before: Path, after: Path, as_json: bool) -> None:
    """Compare the older results A with the newer ones B, by skill id and task: results.jsonl files, or their folders.

    A regression is a task or attack that ends worse than before, or a verdict that fell; what could not be judged is
    told and is none. Exits with 1 if there is a regression.

    \b
    Examples:
      skillmark report diff last-week/ today/
      skillmark report diff main.jsonl branch.jsonl --json | jq .regressed
    """
    import msgspec

    from coordinator.comparing import Change, ResultsError, compare, sides
    from coordinator.comparing import command as made_by

    old, new = sides(before), sides(after)
    if {made_by(old), made_by(new)} == {"certify", "eval"}:
        raise ResultsError(f"{after}: expected results of {made_by(old)}, as {before} has them, found {made_by(new)}'s")
    changes = list(compare(old, new))
    if as_json:
        counts = Counter(task.change for one in changes for task in one.tasks)
        skills = [
            {**msgspec.to_builtins(one), "before": _figures(one.before), "after": _figures(one.after)}
            for one in changes
        ]
        told = {
            "regressed": sum(one.regressed for one in changes),
            "skills_compared": len(old.keys() & new.keys()),
            "tasks": {change.value: counts[change] for change in Change},
            "skills": skills,
        }
        click.echo(json.dumps(told, indent=2))
    else:
        from rich.console import Console

        from coordinator.report import changes as shown

        shown.show(Console(width=None if sys.stdout.isatty() else 10_000, highlight=False), changes)
    sys.exit(_failures.GATE_FAILED if any(one.regressed for one in changes) else _failures.DONE)


def _figures(side: object) -> dict[str, object] | None:
    """A side without its tasks: those that differ are listed, the others say nothing."""
    import msgspec

    if side is None:
        return None
    plain: dict[str, object] = msgspec.to_builtins(side)
    return {name: value for name, value in plain.items() if name != "tasks"}
