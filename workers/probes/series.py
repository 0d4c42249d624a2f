"""Readings of one series to `Series`: what succeeded, how long it took, and how far that may be off.

The uncertainty bounds the error of the series' percentiles against the skill's own record of the same requests, in 95
of 100 skills. It has these parts:

- Always `OWN_MS`. The stamps are the kernel's, and neither our scheduler nor our interpreter lies between them (against
  the kernel's stamps at the skill's side: 0.01 ms, p95 0.02 ms, on a saturated machine too). What remains is what a
  skill's own clock leaves out: reading the request and sending the answer (a server in Python: 0.1 ms, p90 0.25).
- Where the skill runs on this machine, the waits for a core. The skill takes its turns in the same queue as our thread,
  so its own record begins later than the request arrived. Its waits cannot be seen, ours can: of n exchanges in which
  they have the root mean square r, by Chebyshev at most one in n has a wait of r * sqrt(n), the root of the sum of
  their squares. (Taken first: the longest of our own waits. It held for 92 to 98 of 100 skills; this one for 99 to 100
  beside our own saturated fleet, and for 92 to 98 where other work comes in bursts.) Elsewhere that wait is the skill's
  affair.
- For a sample read by the application, because a stamp was missing or the clock was set: its thread had to be woken and
  given the interpreter lock, up to `CROSSINGS` times in one exchange. How long that takes here and now is seen in two
  ways: a nap right after the exchange, which says by how much this thread oversleeps, and the lag (application's
  reading minus kernel's) of the kernel samples of the same series. The larger of the two bounds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workers.probes.readings import Reading
from workers.wire.result import Series

OWN_MS = 0.25
# send, the error queue, the wait and the receive: each gives the interpreter lock away and must get it back.
CROSSINGS = 4


def series(
    readings: Sequence[Reading],
    *,
    planned: int,
    connect_ms: Sequence[float],
    tls_ms: Sequence[float],
    max_lag_ms: float,
) -> Series:
    """The series of *readings*; those of *planned* that were never sent count as timeouts."""
    found = [(one, one.sample) for one in sorted(readings, key=lambda one: one.order) if one.sample]
    samples = [sample for _, sample in found]
    timeouts = planned - len(readings) + sum(one.timed_out for one in readings)
    fallbacks = sum(not sample.kernel for sample in samples)
    by_kernel = fallbacks < len(samples) or not samples
    return Series(
        planned=planned,
        samples_ms=tuple(sample.elapsed_ms for sample in samples),
        app_ms=tuple(sample.app_ms for sample in samples),
        failures=planned - len(samples) - timeouts,
        timeouts=timeouts,
        clock="kernel" if by_kernel else "monotonic",
        uncertainty_ms=uncertainty_ms(readings),
        fallbacks=fallbacks if by_kernel else 0,
        first_byte_ms=tuple(sample.first_byte_ms for sample in samples),
        connect_ms=tuple(round(ms, 3) for ms in connect_ms),
        tls_ms=tuple(round(ms, 3) for ms in tls_ms),
        lag_ms=tuple(round(sample.lag_ms, 3) for sample in samples),
        tries=tuple(one.tries for one, _ in found),
        flagged=sum(sample.lag_ms > max_lag_ms for sample in samples),
    )


def uncertainty_ms(readings: Sequence[Reading]) -> float:
    """The bound on the error of the percentiles of *readings* (see the module's text)."""
    samples = [one.sample for one in readings if one.sample]
    bound_ms = OWN_MS + math.hypot(*(one.queued_ns / 1e6 for one in readings))
    if not all(sample.kernel for sample in samples):
        lags = [sample.app_ms - sample.elapsed_ms for sample in samples if sample.kernel]
        bound_ms += max(CROSSINGS * max(one.overslept_ns for one in readings) / 1e6, *lags, 0.0)
    return round(bound_ms, 3)
