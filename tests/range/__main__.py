"""``make security``: the whole range, as tables for people and one JSON file for programs."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from coordinator.report.escape import terminal
from tests.range import figures, shelves, trials
from tests.range.figures import Figures, Share
from tests.range.trials import Trials
from workers.wire import logs

SHOWN = 160


def main() -> int:
    """Run the range; 1 where a harmless skill was accused or a kind of hole was never found."""
    parser = argparse.ArgumentParser(prog="make security", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each attack is tried, with fresh canaries")
    parser.add_argument("--out", type=Path, default=Path("out/security.json"), help="where the results go")
    parser.add_argument("--skill", action="append", default=[], help="only this skill; may be repeated")
    parser.add_argument("--probe", action="append", default=[], help="only this attack; may be repeated")
    chosen = parser.parse_args()
    logs.configure()
    harmless, guilty, beyond = (
        [one for one in shelf() if not chosen.skill or one.name in chosen.skill]
        for shelf in (shelves.harmless, shelves.guilty, shelves.beyond)
    )
    corpus = [one for one in trials.attacks() if not chosen.probe or one.id in chosen.probe]
    skills = [*harmless, *guilty, *beyond]
    started = time.monotonic()
    progress = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    with progress:
        task = progress.add_task("trying", total=len(skills) * len(corpus) * chosen.rounds)
        found = trials.try_all(skills, corpus, rounds=chosen.rounds, done=lambda _: progress.advance(task))
    added, far = figures.add_up(found, harmless, guilty), figures.add_up(found, (), beyond)
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(
        f"{len(harmless)} harmless and {len(guilty)} guilty skills, {len(corpus)} attacks, {chosen.rounds} rounds: "
        f"{len(found.trials)} trials in {time.monotonic() - started:.0f} s; "
        f"at most {added.most_calls} requests to a harmless skill"
    )
    _tables(console, added)
    _particulars(console, added, far)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(_plain(found, added, far), indent=1), "utf-8")
    console.print(f"wrote {chosen.out}", highlight=False, markup=False)
    return 1 if added.accusations or figures.never_found(added) else 0


def _tables(console: Console, added: Figures) -> None:
    for title, hits, of, rows in (
        ("False accusations of harmless skills", "accused", "trials", figures.accusations_by_category(added)),
        ("Recall by category", "found", "holes", figures.recall_by_category(added)),
        ("Recall by kind of evidence", "found", "holes", figures.recall_by_kind(added)),
    ):
        table = Table(title=title, title_justify="left", show_edge=False)
        for name in ("", hits, of, "share", "95% interval"):
            table.add_column(name, justify="left" if not name else "right")
        for row in rows:
            part = f"{row.hits / row.trials:.1%}" if row.trials else "-"
            table.add_row(row.name, str(row.hits), str(row.trials), part, f"{row.low:.2%} to {row.high:.2%}")
        console.print()
        console.print(table)


def _particulars(console: Console, added: Figures, far: Figures) -> None:
    lines = [f"accused   {one.skill} by {one.probe}: {one.evidence}" for one in added.accusations]
    lines += [
        f"missed    {one.skill} by {one.hole.probe}: {one.outcome}, {one.evidence}"
        for one in added.searches
        if not one.found
    ]
    lines += [
        f"{'reached  ' if one.found else 'beyond   '} {one.skill} by {one.hole.probe}: {one.outcome}"
        for one in far.searches
    ]
    lines += [f"no attack {probe} for {skill}" for skill, probe in added.unaimed]
    lines += [f"undecided {one.skill} by {one.probe}: {one.outcome}" for one in added.doubts]
    console.print()
    for line in lines:
        console.print(terminal(line[:SHOWN]), highlight=False, markup=False, soft_wrap=True)


def _plain(found: Trials, added: Figures, far: Figures) -> dict[str, object]:
    return {
        "false_accusations": _rows(figures.accusations_by_category(added)),
        "recall_by_category": _rows(figures.recall_by_category(added)),
        "recall_by_kind": _rows(figures.recall_by_kind(added)),
        "most_requests_to_a_harmless_skill": added.most_calls,
        "beyond_reach": _rows(figures.recall_by_kind(far)),
        "unaimed": [{"skill": skill, "probe": probe} for skill, probe in added.unaimed],
        "trials": [
            {
                "skill": one.skill,
                "probe": one.probe,
                "category": one.category,
                "round": one.round,
                "outcome": one.outcome.value,
                "evidence": one.evidence,
            }
            for one in found.trials
        ],
    }


def _rows(shares: Sequence[Share]) -> list[dict[str, object]]:
    return [
        {"name": one.name, "hits": one.hits, "trials": one.trials, "low": round(one.low, 4), "high": round(one.high, 4)}
        for one in shares
    ]


if __name__ == "__main__":
    sys.exit(main())
