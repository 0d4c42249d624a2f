"""Rows about what is measured rather than how fast: errors of latencies, and verdicts on a changing machine."""

from __future__ import annotations

from collections.abc import Iterator

from tests.perf import latency, stability
from tests.perf.row import Row

TIMED_SKILLS = 60
P50_MOST_MS, P95_MOST_MS, HELD_LEAST = 0.2, 1.0, 0.95
STABILITY_S = 150.0


def latency_rows() -> Iterator[Row]:
    """Errors of samples and of the skills' percentiles, and how often the stated uncertainty holds.

    Nothing is promised of skills that share the cores of a saturated fleet: their own clock is wrong (`cores`).
    """
    for found in latency.rows(TIMED_SKILLS):
        promised = found["row"] != latency.TOGETHER
        half_ms, most_ms = found["sample_error_ms"]
        for name, error_ms, bound_ms, is_aim in (
            ("half of the samples are off by at most", half_ms, P50_MOST_MS, True),
            ("95 of 100 samples are off by at most", most_ms, P95_MOST_MS, True),
            ("the p50 of 95 of 100 skills is off by at most", found["p50_error_ms"][1], P50_MOST_MS, False),
            ("the p95 of 95 of 100 skills is off by at most", found["p95_error_ms"][1], P95_MOST_MS, True),
        ):
            yield Row(
                part="latency",
                name=f"{found['row']}: {name}",
                figure=error_ms,
                unit="ms",
                against=f"{bound_ms:g} ms",
                share=error_ms / bound_ms,
                most=1.0 if promised and is_aim else None,
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
