"""An open-loop load: when each request is due, and how long it has waited for that before it was sent.

A request waits for two reasons. The skill still holds all connections: that is what its callers would wait, too, and
leaving it out is the coordinated omission. Or our own thread woke late: that is nobody's latency. Which part is whose
is found by replay: the measured times go through the same queue once more, on a machine that is never late.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Sequence

import msgspec

from workers.observation import TimedOut
from workers.probes.readings import Reading, read
from workers.stopwatch import Stopwatch


class Timetable:
    """When each of *planned* requests is due; they are handed out in order, to whichever connection is free."""

    def __init__(self, planned: int, rate_per_s: float) -> None:
        self._planned = planned
        self._rate_per_s = rate_per_s
        self._begun_ns = time.perf_counter_ns()
        self._next = 0
        self._lock = threading.Lock()

    def next(self) -> tuple[int, int] | None:
        """The number of the next request and the moment it is due (`time.perf_counter_ns`), or None at the end."""
        with self._lock:
            if self._next == self._planned:
                return None
            order, self._next = self._next, self._next + 1
        return order, self._begun_ns + round(self.due_ms(order) * 1e6)

    def due_ms(self, order: int) -> float:
        """When request *order* is due, in milliseconds after the first."""
        return order / self._rate_per_s * 1000


def drive(watch: Stopwatch, timetable: Timetable, timeout_ns: int, stop: threading.Event) -> list[Reading]:
    """Send what is due over one connection, until the timetable ends or *stop* is set.

    A request that the skill left no time for, since it kept the connection past due time and timeout, is a timeout and
    not sent.
    """
    readings: list[Reading] = []
    free_ns = 0  # when the skill would be done with all so far, had this thread never been late
    try:
        while (entry := timetable.next()) is not None:
            order, due_ns = entry
            if stop.wait(max((due_ns - time.perf_counter_ns()) / 1e9, 0.0)):
                break
            begin_ns, started_ns = max(free_ns, due_ns), time.perf_counter_ns()
            left_ns = timeout_ns - (begin_ns - due_ns)
            if left_ns <= 0:
                waited_ms = (begin_ns - due_ns) / 1e6
                readings.append(read(order, TimedOut(elapsed_ms=0.0, deadline_ms=timeout_ns / 1e6 - waited_ms)))
                continue
            exchange = watch.time(started_ns + left_ns)
            reading = read(order, exchange, app_late_ns=max(started_ns - due_ns, 0), body_of=watch.read)
            readings.append(reading)
            free_ns = begin_ns + round(reading.busy_ms * 1e6)
    finally:
        watch.close()
    return readings


def with_waits(readings: Sequence[Reading], timetable: Timetable, in_flight: int) -> list[Reading]:
    """*readings* in order, each sample counted from when its request was due."""
    ordered = sorted(readings, key=lambda one: one.order)
    due_ms = [timetable.due_ms(one.order) for one in ordered]
    waits = waits_ms(due_ms, [one.busy_ms for one in ordered], in_flight)
    return [_later(one, wait) for one, wait in zip(ordered, waits, strict=True)]


def waits_ms(due_ms: Sequence[float], busy_ms: Sequence[float], in_flight: int) -> list[float]:
    """How long each request waits, first come first served, for one of *in_flight* connections.

    Request i is due at ``due_ms[i]``, ascending, and keeps its connection for ``busy_ms[i]``.
    """
    free_ms = [0.0] * in_flight
    waits = []
    for due, busy in zip(due_ms, busy_ms, strict=True):
        begin = max(due, free_ms[0])
        heapq.heapreplace(free_ms, begin + busy)
        waits.append(begin - due)
    return waits


def _later(reading: Reading, wait_ms: float) -> Reading:
    if reading.sample is None:
        return reading
    sample = msgspec.structs.replace(
        reading.sample,
        elapsed_ms=round(reading.sample.elapsed_ms + wait_ms, 6),
        first_byte_ms=round(reading.sample.first_byte_ms + wait_ms, 6),
        # Both count from when the request was due, so the skill's own queue is in the one and not in the other.
        lag_ms=round(max(reading.sample.lag_ms - wait_ms, 0.0), 6),
    )
    return msgspec.structs.replace(reading, sample=sample)
