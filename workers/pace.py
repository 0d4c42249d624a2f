"""How fast a skill may be asked: the limit that its publisher states."""

from __future__ import annotations


class Pace:
    """Turns at least ``1 / per_second`` apart. Pure: it is told the time, in seconds of a clock that never goes back.

    The first turn waits too, since an earlier parcel may have asked just now.
    """

    def __init__(self, per_second: float, now: float) -> None:
        self._interval_s = 1 / per_second
        self._next = now + self._interval_s

    def wait_s(self, now: float) -> float:
        """Take the next turn; how many seconds it is away from *now*."""
        turn = max(now, self._next)
        self._next = turn + self._interval_s
        return turn - now
