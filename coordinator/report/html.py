"""report.html: the run as one page for people. It loads nothing, runs nothing, and can be printed.

Every printed value goes through `_printed` and then through jinja2's autoescape, so no template can forget to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any

import jinja2
from msgspec import Struct

from coordinator.certify import Decision, shown, thresholds
from coordinator.policy import Policy
from coordinator.record import Latency, Record
from coordinator.report import security
from coordinator.report.escape import cut, terminal
from coordinator.report.figures import MEASURES, measured, percent
from coordinator.report.latency import sentences
from coordinator.report.report import CertificationReport, EvaluationReport, Report
from coordinator.report.table import place
from coordinator.scorecard import Grade, Measures, Scorecard
from coordinator.tally import Finding
from workers.wire.job import Pillar
from workers.wire.result import Outcome

FILE = "report.html"
EVIDENCE_CHARS = 1_000
NONE = "–"
DETAILED = 2_000  # skills with a section of their own; a browser copes with no more
GOOD = frozenset({Outcome.PASS, Outcome.RESISTED})
CHART = (240, 40)  # pixels


class Share(Struct, frozen=True):
    """How many skills got one verdict."""

    name: str
    count: int
    percent: float


def render(report: Report) -> Iterator[str]:
    """The page, in pieces."""
    if isinstance(report, CertificationReport):
        return _environment().get_template("certification.html").generate(**_certification(report))
    return _environment().get_template("evaluation.html").generate(**_evaluation(report))


def _certification(report: CertificationReport) -> dict[str, Any]:
    policy = report.policy

    def score(value: float | None, pillar: str | None = None) -> str:
        return NONE if value is None else shown(value, thresholds(Pillar(pillar) if pillar else None, policy))

    def requests(one: Record) -> dict[Pillar, int]:
        return dict(report.requests(one))

    return {
        **_common(report, Decision),
        "pillars": [pillar.value for pillar in Pillar],
        "rule": policy.certificate,
        "score": score,
        "band_of": _band_of(policy),
        "requests": requests,
        "attacked": security.section,
        "how_sure": security.WHY,
        "chart": _chart,
        "timed": sentences,
        "lost": lambda findings: _lost([one for one in findings if not security.is_attack(one)]),
    }


def _evaluation(report: EvaluationReport) -> dict[str, Any]:
    def figures(measures: Measures | None) -> list[str]:
        return [NONE if figure == "-" else figure for figure in measured(measures)]

    return {**_common(report, Grade), "headings": MEASURES, "measured": figures, "percent": percent}


def _common(report: Report, verdicts: type[Decision] | type[Grade]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    last: Record | Scorecard | None = None
    for one in report.records():
        counts[one.verdict] += 1
        last = one
    total = counts.total()
    return {
        "run_id": report.run_id,
        "interrupted": report.interrupted,
        "total": total,
        "shares": [Share(name.value, counts[name], 100 * counts[name] / total) for name in verdicts if counts[name]],
        "last": last,
        "rows": report.records,
        "detailed": lambda: islice(report.records(), DETAILED),
        "detailed_most": DETAILED,
        "more": max(0, total - DETAILED),
        "lost": _lost,
        "rest": _rest,
        "evidence": lambda finding: cut(finding.evidence, EVIDENCE_CHARS),
        "named": lambda one: one.skill.name or one.skill.id or place(one.skill.source),
        "words": lambda text: text.replace("_", " "),
    }


def _lost(findings: Sequence[Finding]) -> list[Finding]:
    return [one for one in findings if one.outcome not in GOOD and one.outcome is not Outcome.NOT_APPLICABLE]


def _rest(findings: Sequence[Finding]) -> list[Finding]:
    return [one for one in findings if one.outcome in GOOD or one.outcome is Outcome.NOT_APPLICABLE]


def _band_of(policy: Policy) -> Any:
    """A score's place among the policy's bands, 0 for the best: the colour of its bar."""
    starts = [band.start for band in policy.bands]
    return lambda value: 0 if value is None else sum(value < start for start in starts)


def _chart(latency: Latency) -> str:
    """The points of a line through the samples, in the order of the requests, in a box of `CHART`."""
    width, height = CHART
    highest = max(latency.samples) or 1.0
    step = width / max(1, len(latency.samples) - 1)
    return " ".join(
        f"{at * step:.1f},{height - 2 - (height - 4) * sample / highest:.1f}"
        for at, sample in enumerate(latency.samples)
    )


def _printed(value: Any) -> Any:
    """What a template prints: text without anything invisible in it."""
    return terminal(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _environment() -> jinja2.Environment:
    folder = resources.files("coordinator.report") / "templates"
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(folder)),
        autoescape=True,
        finalize=_printed,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
