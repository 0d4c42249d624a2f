"""The figures of an evaluation as people read them."""

from __future__ import annotations

import math

from coordinator.scorecard import Measures

MEASURES = ("tasks", "completion", "score", "errors", "consistency", "p50 ms", "p95 ms", "composite")


def measured(measures: Measures | None) -> list[str]:
    """The figures of *measures*, in the order of `MEASURES`; a hyphen where there is nothing to tell one by."""
    if measures is None:
        return ["-"] * len(MEASURES)
    latency = measures.latency_ms
    return [
        str(measures.tasks),
        percent(measures.completion_rate),
        percent(measures.partial_score),
        percent(measures.error_rate),
        "-" if measures.consistency is None else f"{measures.consistency:.2f}",
        "-" if latency is None else f"{latency.p50:.1f}",
        "-" if latency is None else f"{latency.p95:.1f}",
        "-" if measures.composite is None else f"{measures.composite:.2f}",
    ]


def percent(rate: float | None) -> str:
    """*rate* as a percentage with one decimal, cut and not rounded, so that no threshold looks met that is not."""
    return "-" if rate is None else f"{math.floor(round(rate * 1000, 6)) / 10:g}%"
