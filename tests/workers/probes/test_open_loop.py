from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from workers.observation import TimedOut
from workers.probes.open_loop import Timetable, drive, waits_ms, with_waits
from workers.probes.readings import Reading, Sample

BUSY = st.lists(st.floats(0, 1000), max_size=60)


def test_requests_are_handed_out_once_in_order() -> None:
    """The timetable gives every request once, each due an interval after the last, and then ends."""
    timetable = Timetable(3, rate_per_s=4.0)

    entries = [timetable.next() for _ in range(4)]

    assert [entry and entry[0] for entry in entries] == [0, 1, 2, None]
    due = [entry[1] for entry in entries if entry]
    assert [later - due[0] for later in due] == [0, 250_000_000, 500_000_000]


def test_a_stall_is_billed_to_all_that_were_due_meanwhile() -> None:
    """Over one connection, a request of 100 ms makes the next ones, due every 10 ms, wait for the rest of it."""
    waits = waits_ms([0, 10, 20, 30], [100, 1, 1, 1], in_flight=1)

    assert waits == [0, 90, 81, 72]


def test_a_second_connection_takes_the_next_request() -> None:
    """While one connection is held, another serves what is due."""
    waits = waits_ms([0, 10, 20, 30], [100, 1, 1, 1], in_flight=2)

    assert waits == [0, 0, 0, 0]


@given(busy=BUSY, in_flight=st.integers(1, 8), interval=st.floats(1, 100))
def test_more_connections_never_wait_longer(busy: list[float], in_flight: int, interval: float) -> None:
    """Waits are never negative, and another connection makes none of them longer."""
    due = [n * interval for n in range(len(busy))]

    few, many = waits_ms(due, busy, in_flight), waits_ms(due, busy, in_flight + 1)

    assert all(wait >= 0 for wait in few)
    assert all(more <= less + 1e-6 for more, less in zip(many, few, strict=True))


@given(busy=st.lists(st.floats(0, 9), max_size=60))
def test_a_skill_that_keeps_up_makes_nobody_wait(busy: list[float]) -> None:
    """Where every answer comes before the next request is due, no wait is billed."""
    waits = waits_ms([n * 10.0 for n in range(len(busy))], busy, in_flight=1)

    assert waits == [0.0] * len(busy)


def test_our_own_lateness_is_not_in_the_sample() -> None:
    """A request sent late by our thread alone keeps its latency; the lateness stays in the application's reading."""
    late = Reading(order=1, busy_ms=5, sample=Sample(5, 300, 4, True))
    early = Reading(order=0, busy_ms=5, sample=Sample(5, 6, 4, True))

    first, second = with_waits([late, early], Timetable(2, 100.0), in_flight=1)

    assert (first.order, second.order) == (0, 1)
    assert second.sample == Sample(5, 300, 4, True)


def test_a_timeout_holds_its_connection() -> None:
    """What is due while a request times out counts from its due time, first byte and all."""
    hung = Reading(order=0, busy_ms=50, flaw="timed out", timed_out=True)
    quick = Reading(order=1, busy_ms=5, sample=Sample(5, 46, 4, True))

    _, second = with_waits([hung, quick], Timetable(2, 100.0), in_flight=1)

    assert second.sample == Sample(45.0, 46, 44.0, True)


class HangingWatch:
    """A stopwatch whose skill held the connection for longer than anybody would wait."""

    read = None

    def __init__(self) -> None:
        self.timed = 0
        self.closed = False

    def time(self, deadline_ns: int) -> TimedOut:
        self.timed += 1
        return TimedOut(elapsed_ms=5000, deadline_ms=100)

    def close(self) -> None:
        self.closed = True


def test_what_cannot_be_sent_in_time_is_a_timeout() -> None:
    """Requests whose deadline passed while the skill held the connection are counted and not sent."""
    watch = HangingWatch()

    found = drive(watch, Timetable(3, 1000.0), 100_000_000, threading.Event())  # type: ignore[arg-type]

    assert [(one.order, one.timed_out) for one in found] == [(0, True), (1, True), (2, True)]
    assert (watch.timed, watch.closed) == (1, True)


def test_a_stopped_load_sends_nothing_more() -> None:
    """Once stopped, a connection is closed and the rest of the timetable left alone."""
    watch, stop = HangingWatch(), threading.Event()
    stop.set()

    found = drive(watch, Timetable(3, 1000.0), 100_000_000, stop)  # type: ignore[arg-type]

    assert (found, watch.timed, watch.closed) == ([], 0, True)
