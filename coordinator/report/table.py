"""The table of scores, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from coordinator.certify import Decision, shown, thresholds
from coordinator.policy import Policy
from coordinator.record import Record
from coordinator.report.escape import terminal
from coordinator.report.narrow import fitted
from workers.wire.job import Pillar

MAX_SKILLS = 1_000  # a table is laid out as a whole, and nobody reads more of it
LESSER = ("P95 MS", "VERSION", "FUNC", "PERF", "SEC", "OVERALL")  # give way in this order
STYLES = {
    Decision.CERTIFIED: "bold green",
    Decision.NOT_CERTIFIED: "bold red",
    Decision.INCOMPLETE: "bold yellow",
    Decision.REJECTED: "bold magenta",
}


def show(console: Console, records: Iterable[Record], policy: Policy) -> None:
    """Print one row a skill, then why each that is not certified is not; of a large catalog the first `MAX_SKILLS`."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("SKILL", overflow="fold")
    table.add_column("VERSION", no_wrap=True)
    for name in ("OVERALL", "FUNC", "SEC", "PERF", "P95 MS"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("VERDICT", no_wrap=True)
    why: list[Record] = []
    more = 0
    for number, one in enumerate(records):
        if number >= MAX_SKILLS:
            more += 1
            continue
        table.add_row(_name(one), Text(terminal(one.skill.version or "-")), *_figures(one, policy), _verdict(one))
        if one.verdict is not Decision.CERTIFIED:
            why.append(one)
    console.print(fitted(console, table, LESSER))
    if more:
        console.print(f"and {more} more: --out and --format have them all")
    for one in why:
        console.print()
        console.print(Text.assemble(_name(one), ": ", _verdict(one)))
        for reason in one.reasons:
            console.print(Padding(Text(terminal(reason)), (0, 0, 0, 2), expand=False))


def _name(one: Record) -> Text:
    return Text(terminal(one.skill.id or place(one.skill.source)), style="bold")


def place(source: str) -> str:
    """The last two parts of a rejected entry's path: a manifest's file name alone tells nothing."""
    return "/".join(source.partition("#")[0].split("/")[-2:])


def _verdict(one: Record) -> Text:
    return Text(one.verdict.value.replace("_", " "), style=STYLES[one.verdict])


def _figures(one: Record, policy: Policy) -> list[str]:
    pillars = [one.pillars.get(pillar.value) for pillar in Pillar]
    return [
        shown(one.overall, thresholds(None, policy)),
        *(
            shown(line.score if line else None, thresholds(pillar, policy))
            for pillar, line in zip(Pillar, pillars, strict=True)
        ),
        f"{one.latency_ms.p95:.1f}" if one.latency_ms else "-",
    ]
