"""Readings of one series to `Series`: which succeeded, how long they took, and how far that may be off.

The uncertainty bounds the error of one sample against the skill's own record of that request. It has these parts:

- Always `KERNEL_MS`. The clock counts nanoseconds, the stamps are taken in the kernel, and neither our scheduler nor
  our interpreter lies between them; what remains is the way through the network stacks. (Measured against the kernel's
  stamps at the server: 0.01 ms, p95 0.02 ms, beside 4 busy threads.)
- Where the skill runs on this machine: the longest that our own thread waited for a core during one exchange. The skill
  takes its turns in the same queue, so its record starts later than the request arrived by up to about as much
  (measured beside 4 busy threads on 2 cores: mostly 0.1 ms, p95 3.5 ms). Elsewhere that wait is the skill's affair.
- For a sample read by the application, because a stamp was missing or the clock was set: its thread had to be woken and
  given the interpreter lock, up to `CROSSINGS` times in one exchange. How long that takes here and now is seen in two
  ways: a nap right after the exchange, which says by how much this thread oversleeps, and the lag (application's
  reading minus kernel's) of the kernel samples of the same series. The larger of the two bounds it.

The largest over the samples is given for all: one figure a series, too large for most samples and too small for none.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import Struct

from workers.adapters import _body, _json
from workers.observation import Broke, TimedOut
from workers.stopwatch import Exchange, Timed
from workers.wire.result import Series

KERNEL_MS = 0.1
# send, the error queue, the wait and the receive: each gives the interpreter lock away and must get it back.
CROSSINGS = 4
NAP_S = 0.001


class Sample(Struct, frozen=True):
    """One successful request, in milliseconds; *kernel* says whose clock read it."""

    elapsed_ms: float
    app_ms: float
    first_byte_ms: float
    kernel: bool


class Reading(Struct, frozen=True, kw_only=True):
    """What one request of a series came to: a sample, or a *flaw* instead of one.

    *busy_ms* is how long the skill kept the connection. *queued_ns* is our wait for a core (see `Timed`), and
    *overslept_ns* by how much a nap after an application's reading took too long.
    """

    order: int
    busy_ms: float
    sample: Sample | None = None
    flaw: str = ""
    timed_out: bool = False
    queued_ns: int = 0
    overslept_ns: int = 0


def read(order: int, exchange: Exchange, *, app_late_ns: int = 0) -> Reading:
    """The reading of *exchange*, which took place in this thread just now, *app_late_ns* after it was due."""
    match exchange:
        case TimedOut(elapsed_ms=elapsed_ms):
            return Reading(order=order, busy_ms=elapsed_ms, flaw="timed out", timed_out=True)
        case Broke(reason=reason, elapsed_ms=elapsed_ms):
            return Reading(order=order, busy_ms=elapsed_ms, flaw=reason)
    elapsed_ms = exchange.elapsed_ns / 1e6
    if wrong := flaw(exchange):
        return Reading(order=order, busy_ms=elapsed_ms, flaw=wrong)
    sample = Sample(
        elapsed_ms=elapsed_ms,
        app_ms=(app_late_ns + exchange.app_ns) / 1e6,
        first_byte_ms=exchange.first_byte_ns / 1e6,
        kernel=exchange.kernel,
    )
    return Reading(
        order=order,
        busy_ms=elapsed_ms,
        sample=sample,
        queued_ns=exchange.queued_ns,
        overslept_ns=0 if exchange.kernel else _overslept_ns(),
    )


def flaw(answer: Timed) -> str:
    """Why *answer* is no success, or nothing: any 2xx with a JSON body is. Quotes nothing that the skill wrote."""
    if not 200 <= answer.status < 300:
        return f"HTTP {answer.status}"
    encoding = b", ".join(value for name, value in answer.headers if name.lower() == b"content-encoding")
    try:
        _json.decoded(_body.decompressed(answer.body, encoding.decode("latin-1")))
    except _body.BadBody:
        return f"HTTP {answer.status} with a body that cannot be decompressed"
    except _json.NotJson:
        return f"HTTP {answer.status} without a JSON body"
    return ""


def series(
    readings: Sequence[Reading], *, planned: int, connect_ms: Sequence[float], tls_ms: Sequence[float]
) -> Series:
    """The series of *readings*; those of *planned* that were never sent count as timeouts."""
    samples = [one.sample for one in sorted(readings, key=lambda one: one.order) if one.sample]
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
    )


def uncertainty_ms(readings: Sequence[Reading]) -> float:
    """The bound on the error of any sample among *readings* (see the module's text)."""
    samples = [one.sample for one in readings if one.sample]
    bound_ms = KERNEL_MS + max((one.queued_ns for one in readings), default=0) / 1e6
    if not all(sample.kernel for sample in samples):
        lags = [sample.app_ms - sample.elapsed_ms for sample in samples if sample.kernel]
        bound_ms += max(CROSSINGS * max(one.overslept_ns for one in readings) / 1e6, *lags, 0.0)
    return round(bound_ms, 3)


def _overslept_ns() -> int:
    begun_ns = time.perf_counter_ns()
    time.sleep(NAP_S)
    return max(time.perf_counter_ns() - begun_ns - int(NAP_S * 1e9), 0)
