"""summary.md: a run in one table, short enough for the summary of a CI job (``>> "$GITHUB_STEP_SUMMARY"``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from coordinator.certify import shown, thresholds
from coordinator.policy import Policy
from coordinator.record import Record
from coordinator.report.escape import cut, markdown
from coordinator.report.figures import percent
from coordinator.report.report import Report
from coordinator.scorecard import Scorecard
from workers.wire.job import Pillar

FILE = "summary.md"
MAX_ROWS = 50
WHY_CHARS = 200
ORDER = ("not_certified", "failed", "incomplete", "rejected", "certified", "passed")
MARKS = {"certified": "✅", "passed": "✅", "incomplete": "⚠️"}


def render(report: Report) -> Iterator[str]:
    """Counts, and a row for each skill: those that need attention first, and no more than a page shows."""
    counts = Counter(one.verdict.value for one in report.records())
    told = ", ".join(f"{counts[name]} {_words(name)}" for name in ORDER if counts[name])
    yield f"### skillmark: {told or 'no skill'}\n\n"
    if report.interrupted:
        yield f"**The run was cut short.** `--resume {report.run_id}` goes on with it.\n\n"
    if not counts:
        return
    yield "| | skill | verdict | overall | functional | security | performance | why |\n"
    yield "|---|---|---|--:|--:|--:|--:|---|\n"
    left = MAX_ROWS
    for verdict in (name for name in ORDER if counts[name]):
        if left <= 0:
            break
        for one in report.records():
            if one.verdict.value != verdict:
                continue
            yield _row(one, report.policy)
            left -= 1
            if left <= 0:
                break
    if (more := counts.total() - MAX_ROWS) > 0:
        yield f"\nAnd {more} more.\n"


def _row(one: Record | Scorecard, policy: Policy) -> str:
    name = one.verdict.value
    cells = [
        MARKS.get(name, "❌"),
        markdown(cut(one.skill.name or one.skill.source, WHY_CHARS)),
        _words(name),
        *_figures(one, policy),
        markdown(cut(one.reasons[0], WHY_CHARS)) if one.reasons else "",
    ]
    return f"| {' | '.join(cells)} |\n"


def _figures(one: Record | Scorecard, policy: Policy) -> list[str]:
    if isinstance(one, Scorecard):
        rate = percent(one.measures.completion_rate) if one.measures else "-"
        return ["-", rate, "-", "-"]
    pillars = [(pillar, one.pillars.get(pillar.value)) for pillar in Pillar]
    scores = [shown(line.score if line else None, thresholds(pillar, policy)) for pillar, line in pillars]
    return [shown(one.overall, thresholds(None, policy)), *scores]


def _words(verdict: str) -> str:
    return verdict.replace("_", " ")
