"""Which request of a quiet series comes next. Pure: it sends nothing and knows no clock.

A sample during which our own machine was in the way (its lag is above the bound) is taken again, a few times at most,
and the try with the least lag counts. Which try counts is thus decided by our machine alone, never by how quick the
skill was. A further try that fails makes the request a failed one: the skill's failures are its own doing, and a skill
that drops every tenth request must not have one of them forgotten because we asked again just then.
"""

from __future__ import annotations

import msgspec

from workers.probes.readings import Reading
from workers.wire.job import QuietJob

# A skill that let five callers in a row wait in vain is not asked again: the rest of a quiet series counts as timeouts,
# and a hanging skill holds its thread for 5 x 30 s instead of 21 x 30 s.
GIVE_UP_AFTER = 5


class Quiet:
    """The requests of *job*, one after the other: ask `next`, send, tell `took`. *readings* are those that count."""

    def __init__(self, job: QuietJob) -> None:
        self._job = job
        self._order = -job.warmup
        self._best: Reading | None = None
        self._tries = 0
        self._in_vain = 0
        self.readings: list[Reading] = []
        self.requests = 0

    def next(self) -> int | None:
        """The number of the next request, below zero for one that only warms up; None when the series has ended."""
        if self._order == self._job.requests or self._in_vain == GIVE_UP_AFTER:
            return None
        return self._order

    def took(self, reading: Reading) -> None:
        """Note what became of the request that `next` named."""
        self.requests += 1
        self._tries += 1
        self._in_vain = self._in_vain + 1 if reading.timed_out else 0
        best = self._best = reading if self._best is None else _surer(self._best, reading)
        late = best.sample is not None and best.sample.lag_ms > self._job.max_lag_ms
        if self._order >= 0 and late and self._tries <= self._job.retakes:
            return
        if self._order >= 0:
            self.readings.append(msgspec.structs.replace(best, tries=self._tries))
        self._order, self._best, self._tries = self._order + 1, None, 0


def _surer(known: Reading, new: Reading) -> Reading:
    if new.sample is None or known.sample is None:
        return new
    return new if new.sample.lag_ms < known.sample.lag_ms else known
