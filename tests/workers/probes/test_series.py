from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.probes.readings import Reading, Sample
from workers.probes.series import OWN_MS, series


def reading(order: int, *, app_ms: float = 3.0, kernel: bool = True, queued_ns: int = 0, nap_ns: int = 0) -> Reading:
    sample = Sample(2.0, app_ms, 1.0, kernel)
    return Reading(order=order, busy_ms=2.0, sample=sample, queued_ns=queued_ns, overslept_ns=nap_ns)


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

    found = series(readings, planned=planned, connect_ms=[], tls_ms=[], max_lag_ms=10.0)

    assert len(found.samples_ms) == len(found.app_ms) == len(found.first_byte_ms) == ends.count("good")
    assert (found.failures, found.timeouts) == (ends.count("fail"), ends.count("timeout") + unsent)
    assert list(found.app_ms) == sorted(found.app_ms)


def test_kernel_samples_of_another_machine_are_sure() -> None:
    """Where the kernel read every sample the uncertainty is the stamping's own."""
    found = series([reading(0, app_ms=90.0), reading(1)], planned=2, connect_ms=[0.5], tls_ms=[], max_lag_ms=10.0)

    assert (found.clock, found.fallbacks, found.uncertainty_ms) == ("kernel", 0, OWN_MS)


def test_a_skill_on_this_machine_shares_our_waits() -> None:
    """The root of the sum of our squared waits for a core is added to the uncertainty."""
    found = series(
        [reading(0, queued_ns=4_000_000), reading(1, queued_ns=3_000_000)],
        planned=2,
        connect_ms=[],
        tls_ms=[],
        max_lag_ms=10.0,
    )

    assert found.uncertainty_ms == pytest.approx(OWN_MS + 5)


def test_a_lost_stamp_is_covered_by_the_lags_of_the_others() -> None:
    """One sample read by the application widens the uncertainty to the largest lag seen beside it."""
    readings = [reading(0, app_ms=42.0), reading(1, kernel=False, nap_ns=1_000_000)]

    found = series(readings, planned=2, connect_ms=[], tls_ms=[], max_lag_ms=10.0)

    assert (found.clock, found.fallbacks) == ("kernel", 1)
    assert found.uncertainty_ms == pytest.approx(OWN_MS + 40)


def test_without_the_kernel_the_naps_tell() -> None:
    """A series of the application's readings alone takes its uncertainty from how long the thread overslept."""
    readings = [reading(0, kernel=False, nap_ns=1_000_000), reading(1, kernel=False, nap_ns=3_000_000)]

    found = series(readings, planned=2, connect_ms=[], tls_ms=[], max_lag_ms=10.0)

    assert (found.clock, found.fallbacks) == ("monotonic", 0)
    assert found.uncertainty_ms == pytest.approx(OWN_MS + 12)


def test_the_samples_that_stayed_doubtful_are_counted() -> None:
    """Each sample keeps its lag and how often it was taken; those above the bound are flagged."""
    readings = [
        Reading(order=0, busy_ms=2.0, sample=Sample(2.0, 3.0, 1.0, True, 1.0)),
        Reading(order=1, busy_ms=2.0, sample=Sample(2.0, 13.0, 1.0, True, 11.0), tries=3),
        Reading(order=2, busy_ms=2.0, sample=Sample(2.0, 12.0, 1.0, True, 10.0), tries=2),
    ]

    found = series(readings, planned=3, connect_ms=[], tls_ms=[], max_lag_ms=10.0)

    assert (found.lag_ms, found.tries, found.flagged) == ((1.0, 11.0, 10.0), (1, 3, 2), 1)
