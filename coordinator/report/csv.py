"""results.csv: one row a skill, for spreadsheets. No cell of it is ever a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from coordinator.record import PillarLine, Record
from coordinator.report.escape import spreadsheet
from coordinator.report.report import CertificationReport, Report
from coordinator.scorecard import Scorecard
from workers.wire.job import Pillar

FILE = "results.csv"
SKILL = ("id", "name", "version", "source", "verdict")
CERTIFIED = (
    *SKILL, "overall", "band", "functional", "security", "performance", "functional_coverage", "security_coverage",
    "performance_coverage", "p50_ms", "p95_ms", "p99_ms", "reasons", "run_id",
)  # fmt: skip
EVALUATED = (
    *SKILL, "completion_rate", "partial_score", "error_rate", "consistency", "p50_ms", "p95_ms", "p99_ms", "composite",
    "coverage", "tasks", "runs", "passed", "judged", "planned", "flaky", "reasons", "run_id",
)  # fmt: skip

Cell = str | float | None


def render(report: Report) -> Iterator[str]:
    """A header and the rows, as RFC 4180 wants them; figures are unrounded."""
    if isinstance(report, CertificationReport):
        yield _line(CERTIFIED)
        yield from (_line(_certified(one)) for one in report.records())
    else:
        yield _line(EVALUATED)
        yield from (_line(_evaluated(one)) for one in report.records())


def _certified(one: Record) -> Sequence[Cell]:
    none = PillarLine(score=None, live=None, static=None, coverage=0.0)
    pillars = [one.pillars.get(pillar.value, none) for pillar in Pillar]
    latency = one.latency_ms
    return (
        *_skill(one),
        one.overall,
        one.band,
        *(line.score for line in pillars),
        *(line.coverage if one.pillars else None for line in pillars),
        *((latency.p50, latency.p95, latency.p99) if latency else (None, None, None)),
        "; ".join(one.reasons),
        one.run_id,
    )


def _evaluated(one: Scorecard) -> Sequence[Cell]:
    found = one.measures
    if found is None:
        return (*_skill(one), *[None] * (len(EVALUATED) - len(SKILL) - 2), "; ".join(one.reasons), one.run_id)
    latency = found.latency_ms
    return (
        *_skill(one),
        found.completion_rate,
        found.partial_score,
        found.error_rate,
        found.consistency,
        *((latency.p50, latency.p95, latency.p99) if latency else (None, None, None)),
        found.composite,
        found.coverage,
        found.tasks,
        found.runs,
        found.passed,
        found.judged,
        found.planned,
        "; ".join(found.flaky),
        "; ".join(one.reasons),
        one.run_id,
    )


def _skill(one: Record | Scorecard) -> Sequence[Cell]:
    return (one.skill.id, one.skill.name, one.skill.version, one.skill.source, one.verdict.value)


def _line(cells: Sequence[Cell]) -> str:
    row = io.StringIO()
    csv.writer(row).writerow([spreadsheet(cell) if isinstance(cell, str) else cell for cell in cells])
    return row.getvalue()
