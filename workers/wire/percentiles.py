"""Nearest-rank percentiles: one definition for the worker's evidence and the coordinator's score."""

from __future__ import annotations

import math
from collections.abc import Sequence


class NoSamples(ValueError):
    """There is nothing to take a percentile of."""


def percentile(samples_ms: Sequence[float], q: float) -> float:
    """The *q*-quantile of *samples_ms*, in milliseconds, by nearest rank; *q* is in 0..1.

    Always one of the samples, never a value between two of them.

    Raises:
        NoSamples: If empty; an unmeasured skill is not a fast one.
        ValueError: If *q* is outside 0..1.

    Source: Hyndman & Fan (1996), definition 1.
    """
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"a quantile lies in 0..1, not at {q!r}")
    if not samples_ms:
        raise NoSamples("no samples, so no percentile")
    # 0.07 * 100 is 7.000000000000001 in binary; its rank is 7 all the same.
    rank = math.ceil(round(q * len(samples_ms), 9))
    return sorted(samples_ms)[max(rank, 1) - 1]
