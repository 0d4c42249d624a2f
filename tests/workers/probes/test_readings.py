from __future__ import annotations

import gzip

import pytest

from workers.observation import Broke, TimedOut
from workers.probes.readings import Reading, Sample, flaw, read
from workers.stopwatch import Timed


def timed(
    body: bytes = b"{}", status: int = 200, *, kernel: bool = True, encoding: bytes = b"", queued_ns: int = 0
) -> Timed:
    headers = ((b"content-encoding", encoding),) if encoding else ()
    return Timed(
        status=status,
        headers=headers,
        body=body,
        elapsed_ns=2_000_000,
        first_byte_ns=1_000_000,
        app_ns=3_000_000,
        queued_ns=queued_ns,
        kernel=kernel,
    )


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

    assert found == Reading(order=3, busy_ms=2.0, sample=Sample(2.0, 8.0, 1.0, True, 6.0))


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


def test_a_wait_for_a_core_is_lag_too() -> None:
    """How far our machine was in the way is the larger of the application's delay and the wait for a core."""
    found = read(0, timed(queued_ns=4_000_000))

    assert found.sample is not None
    assert (found.sample.lag_ms, found.queued_ns) == (4.0, 4_000_000)


def test_without_the_kernel_a_nap_tells_the_lag() -> None:
    """An application's reading has no kernel's beside it; how late this thread wakes up stands in for it."""
    found = read(0, timed(kernel=False))

    assert found.sample is not None
    assert found.overslept_ns > 0
    assert found.sample.lag_ms == pytest.approx(max(1.0, found.overslept_ns / 1e6))
