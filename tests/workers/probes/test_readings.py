from __future__ import annotations

import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.observation import Broke, TimedOut
from workers.probes.readings import KERNEL_MS, Reading, Sample, flaw, read, series
from workers.stopwatch import Timed


def timed(body: bytes = b"{}", status: int = 200, *, kernel: bool = True, encoding: bytes = b"") -> Timed:
    headers = ((b"content-encoding", encoding),) if encoding else ()
    return Timed(
        status=status,
        headers=headers,
        body=body,
        elapsed_ns=2_000_000,
        first_byte_ns=1_000_000,
        app_ns=3_000_000,
        queued_ns=0,
        kernel=kernel,
    )


def reading(order: int, *, app_ms: float = 3.0, kernel: bool = True, queued_ns: int = 0, nap_ns: int = 0) -> Reading:
    sample = Sample(2.0, app_ms, 1.0, kernel)
    return Reading(order=order, busy_ms=2.0, sample=sample, queued_ns=queued_ns, overslept_ns=nap_ns)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (timed(b'{"a": [1]}'), ""),
        (timed(b"null", 201), ""),
        (timed(gzip.compress(b"{}"), encoding=b"gzip"), ""),
        (timed(b"{}", 500), "HTTP 500"),
        (timed(b"{}", 302), "HTTP 302"),
        (timed(b""), "HTTP 200 without a JSON body"),
        (timed(b"{} {}"), "HTTP 200 without a JSON body"),
        (timed(b'"\xff"'), "HTTP 200 without a JSON body"),
        (timed(b"[" * 500_000), "HTTP 200 without a JSON body"),
        (timed(gzip.compress(b" " * 5_000_000), encoding=b"gzip"), "HTTP 200 with a body that cannot be decompressed"),
        (timed(b"{}", encoding=b"gzip"), "HTTP 200 with a body that cannot be decompressed"),
        (timed(b"{}", encoding=b"\xff"), "HTTP 200 with a body that cannot be decompressed"),
    ],
    ids=lambda value: None if isinstance(value, Timed) else value or "success",
)
def test_a_success_is_a_2xx_with_json(answer: Timed, expected: str) -> None:
    """Any 2xx whose body is strict, bounded JSON is a success; anything else says what it is instead."""
    assert flaw(answer) == expected


def test_a_kernel_reading_takes_no_nap() -> None:
    """An exchange read by the kernel's clock becomes a sample as it is."""
    found = read(3, timed(), app_late_ns=5_000_000)

    assert found == Reading(order=3, busy_ms=2.0, sample=Sample(2.0, 8.0, 1.0, True))


def test_failures_are_no_samples() -> None:
    """What timed out, broke or answered wrongly has a flaw and no sample, and kept its connection busy."""
    found = [
        read(0, TimedOut(elapsed_ms=50, deadline_ms=50)),
        read(1, Broke(reason="cut", elapsed_ms=7)),
        read(2, timed(status=404)),
    ]

    assert [(one.sample, one.flaw, one.timed_out, one.busy_ms) for one in found] == [
        (None, "timed out", True, 50),
        (None, "cut", False, 7),
        (None, "HTTP 404", False, 2.0),
    ]


@given(
    ends=st.lists(st.sampled_from(["good", "fail", "timeout"]), max_size=30),
    unsent=st.integers(0, 5),
    seed=st.randoms(),
)
def test_every_planned_request_is_counted_once(ends: list[str], unsent: int, seed: random.Random) -> None:
    """Samples, failures and timeouts, the unsent among these, add up to the plan, in whatever order they came."""
    readings = [
        reading(order, app_ms=3.0 + order)
        if end == "good"
        else Reading(order=order, busy_ms=1.0, flaw=end, timed_out=end == "timeout")
        for order, end in enumerate(ends)
    ]
    planned = len(ends) + unsent
    seed.shuffle(readings)

    found = series(readings, planned=planned, connect_ms=[], tls_ms=[])

    assert len(found.samples_ms) == len(found.app_ms) == len(found.first_byte_ms) == ends.count("good")
    assert (found.failures, found.timeouts) == (ends.count("fail"), ends.count("timeout") + unsent)
    assert list(found.app_ms) == sorted(found.app_ms)


def test_kernel_samples_of_another_machine_are_sure() -> None:
    """Where the kernel read every sample the uncertainty is the stamping's own."""
    found = series([reading(0, app_ms=90.0), reading(1)], planned=2, connect_ms=[0.5], tls_ms=[])

    assert (found.clock, found.fallbacks, found.uncertainty_ms) == ("kernel", 0, KERNEL_MS)


def test_a_skill_on_this_machine_shares_our_waits() -> None:
    """The longest wait of ours for a core is added to the uncertainty."""
    found = series([reading(0, queued_ns=4_000_000), reading(1)], planned=2, connect_ms=[], tls_ms=[])

    assert found.uncertainty_ms == pytest.approx(KERNEL_MS + 4)


def test_a_lost_stamp_is_covered_by_the_lags_of_the_others() -> None:
    """One sample read by the application widens the uncertainty to the largest lag seen beside it."""
    readings = [reading(0, app_ms=42.0), reading(1, kernel=False, nap_ns=1_000_000)]

    found = series(readings, planned=2, connect_ms=[], tls_ms=[])

    assert (found.clock, found.fallbacks) == ("kernel", 1)
    assert found.uncertainty_ms == pytest.approx(KERNEL_MS + 40)


def test_without_the_kernel_the_naps_tell() -> None:
    """A series of the application's readings alone takes its uncertainty from how long the thread overslept."""
    readings = [reading(0, kernel=False, nap_ns=1_000_000), reading(1, kernel=False, nap_ns=3_000_000)]

    found = series(readings, planned=2, connect_ms=[], tls_ms=[])

    assert (found.clock, found.fallbacks) == ("monotonic", 0)
    assert found.uncertainty_ms == pytest.approx(KERNEL_MS + 12)
