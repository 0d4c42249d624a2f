"""Rows about what is measured rather than how fast: errors of latencies, and verdicts on a changing machine."""

from __future__ import annotations

from collections.abc import Iterator

from tests.perf import latency, stability
from tests.perf.row import Row

TIMED_SKILLS = 60
P50_MOST_MS, P95_MOST_MS, HELD_LEAST = 0.2, 1.0, 0.95
STABILITY_S = 150.0


def latency_rows() -> Iterator[Row]:
    """Errors of the skills' percentiles, that of the 95th of 100 skills, and how often the stated uncertainty holds.

    Nothing is promised of skills that share the cores of a saturated fleet: their own clock is wrong (`cores`).
    """
    for found in latency.rows(TIMED_SKILLS):
        promised = found["row"] != latency.TOGETHER
        for figure, most_ms in (("p50", P50_MOST_MS), ("p95", P95_MOST_MS)):
            error_ms = found[f"{figure}_error_ms"][1]
            yield Row(
                part="latency",
                name=f"{found['row']}: error of {figure} in 95 of 100 skills",
                figure=error_ms,
                unit="ms",
                against=f"{most_ms:g} ms",
                share=error_ms / most_ms,
                most=1.0 if promised else None,
            )
        yield Row(
            part="latency",
            name=f"{found['row']}: stated uncertainty holds",
            figure=found["uncertainty_held"] * 100,
            unit="% of skills",
            against="all",
            share=found["uncertainty_held"],
            least=HELD_LEAST if promised else None,
        )


def stability_rows() -> Iterator[Row]:
    """Skills whose verdict was the same in every run, and how far the scores of a pillar lie apart at most."""
    found = stability.measure(seconds=STABILITY_S)
    same = found["skills"] - len(found["changed_verdicts"])
    yield Row(
        part="stability",
        name=f"same verdict in {found['runs']} runs under changing load",
        figure=same,
        unit="skills",
        against=f"{found['skills']} skills",
        share=same / found["skills"],
        least=1.0,
    )
    for pillar, spread in found["spread"].items():
        yield Row(part="stability", name=f"largest spread of {pillar}", figure=spread["most"], unit="points")
