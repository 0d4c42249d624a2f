"""The table of an evaluation, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from coordinator.report.escape import terminal
from coordinator.report.figures import MEASURES, measured
from coordinator.report.narrow import fitted
from coordinator.report.table import place
from coordinator.scorecard import Grade, Scorecard

# Give way in this order.
LESSER = ("CONSISTENCY", "P50 MS", "P95 MS", "VERSION", "COMPOSITE", "ERRORS", "TASKS", "SCORE", "COMPLETION")
STYLES = {
    Grade.PASSED: "bold green",
    Grade.FAILED: "bold red",
    Grade.INCOMPLETE: "bold yellow",
    Grade.REJECTED: "bold magenta",
}


def show(console: Console, cards: Iterable[Scorecard]) -> None:
    """Print one row a skill, then what each lost."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("SKILL", overflow="fold")
    table.add_column("VERSION", no_wrap=True)
    for name in MEASURES:
        table.add_column(name.upper(), justify="right", no_wrap=True)
    table.add_column("VERDICT", no_wrap=True)
    why: list[Scorecard] = []
    for one in cards:
        table.add_row(_name(one), Text(terminal(one.skill.version or "-")), *measured(one.measures), _verdict(one))
        if one.reasons:
            why.append(one)
    console.print(fitted(console, table, LESSER))
    for one in why:
        console.print()
        console.print(Text.assemble(_name(one), ": ", _verdict(one)))
        for reason in one.reasons:
            console.print(Padding(Text(terminal(reason)), (0, 0, 0, 2), expand=False))


def _name(one: Scorecard) -> Text:
    return Text(terminal(one.skill.id or place(one.skill.source)), style="bold")


def _verdict(one: Scorecard) -> Text:
    return Text(one.verdict.value, style=STYLES[one.verdict])
