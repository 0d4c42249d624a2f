"""How sure a share is that was counted."""

from __future__ import annotations

import math

Z_95 = 1.959963984540054


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """The 95% interval of a share of *hits* in *trials*; all of 0 to 1 where nothing was tried.

    Source: Wilson (1927), without continuity correction. The usual mean plus or minus 1.96 standard errors says 0 to 0
    for no hit in ten, which is no knowledge to have after ten trials.
    """
    if not trials:
        return 0.0, 1.0
    share, spread = hits / trials, Z_95**2 / trials
    middle = share + spread / 2
    margin = Z_95 * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, (middle - margin) / (1 + spread)), min(1.0, (middle + margin) / (1 + spread))
