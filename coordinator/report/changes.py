"""The difference of two results, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coordinator.comparing import Change, Side, SkillChange
from coordinator.report.escape import terminal
from coordinator.report.figures import percent
from coordinator.report.narrow import fitted

LESSER = ("P95 MS", "SCORE", "IMPROVED", "VERDICT", "REGRESSED")  # give way in this order
STYLES = {
    Change.REGRESSED: "bold red",
    Change.IMPROVED: "bold green",
    Change.UNDECIDED: "bold yellow",
    Change.NEW: "bold cyan",
    Change.GONE: "bold magenta",
}


def show(console: Console, changes: Sequence[SkillChange]) -> None:
    """Print one row a skill that differs, then its tasks, the regressions first."""
    if not changes:
        console.print("no difference")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("SKILL", overflow="fold")
    for name in ("VERDICT", "SCORE", "P95 MS", "REGRESSED", "IMPROVED"):
        table.add_column(name, no_wrap=True)
    for one in changes:
        table.add_row(
            Text(terminal(one.skill), style="bold"),
            _arrow(one.before.verdict if one.before else None, one.after.verdict if one.after else None),
            _arrow(_score(one.before), _score(one.after)),
            _arrow(_latency(one.before), _latency(one.after)),
            *(str(sum(task.change is change for task in one.tasks)) for change in (Change.REGRESSED, Change.IMPROVED)),
        )
    console.print(fitted(console, table, LESSER))
    order = list(Change)
    told = [(change, one.skill, text) for one in changes for change, text in _lines(one)]
    for change, skill, text in sorted(told, key=lambda line: order.index(line[0])):
        console.print(Text.assemble((f"{change.value:<10}", STYLES[change]), f" {terminal(skill)}  {text}"))


def _lines(one: SkillChange) -> list[tuple[Change, str]]:
    if one.change is not None:
        return [(one.change, "the skill")]
    lines = []
    if one.verdict is not None and one.before and one.after:
        lines.append((one.verdict, f"verdict: {terminal(one.before.verdict)} -> {terminal(one.after.verdict)}"))
    for task in one.tasks:
        scores = ""
        if task.before == task.after:
            scores = f" ({task.score_before or 0:g} -> {task.score_after or 0:g})"
        ends = f"{terminal(task.before or 'none')} -> {terminal(task.after or 'none')}"
        lines.append((task.change, f"{terminal(task.task)}: {ends}{scores}"))
    return lines


def _arrow(before: str | None, after: str | None) -> Text:
    old, new = terminal(before or "-"), terminal(after or "-")
    return Text(old if old == new else f"{old} -> {new}")


def _score(side: Side | None) -> str | None:
    if side is None:
        return None
    if side.completion_rate is not None:
        return percent(side.completion_rate)
    return None if side.overall is None else f"{side.overall:.1f}"


def _latency(side: Side | None) -> str | None:
    return None if side is None or side.p95_ms is None else f"{side.p95_ms:.1f}"
