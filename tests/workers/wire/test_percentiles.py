from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.wire.percentiles import NoSamples, percentile

SAMPLES = st.lists(st.floats(0, 1e6), min_size=1, max_size=300)


@pytest.mark.parametrize(("q", "expected"), [(0.0, 1), (0.5, 10), (0.55, 11), (0.95, 19), (0.99, 20), (1.0, 20)])
def test_nearest_rank_of_twenty(q: float, expected: float) -> None:
    """Of 1..20, the q-quantile is the value whose rank is q x 20, rounded up."""
    samples = [float(n) for n in range(20, 0, -1)]

    found = percentile(samples, q)

    assert found == expected


@given(samples=SAMPLES, q=st.floats(0, 1))
def test_is_the_smallest_sample_with_enough_below(samples: list[float], q: float) -> None:
    """The quantile is a sample, at least q of all samples are at or below it, and fewer than q lie below it."""
    found = percentile(samples, q)

    assert found in samples
    assert sum(sample <= found for sample in samples) >= q * len(samples) - 1e-6
    assert sum(sample < found for sample in samples) <= q * len(samples)


@given(samples=SAMPLES, low=st.floats(0, 1), high=st.floats(0, 1))
def test_grows_with_q(samples: list[float], low: float, high: float) -> None:
    """A higher quantile is never below a lower one."""
    low, high = sorted((low, high))

    assert percentile(samples, low) <= percentile(samples, high)


def test_binary_rounding_does_not_move_the_rank() -> None:
    """The 7th percentile of a hundred is the 7th value, although 0.07 x 100 is a hair above 7 in binary."""
    samples = [float(n) for n in range(1, 101)]

    assert percentile(samples, 0.07) == 7


def test_no_samples_have_no_percentile() -> None:
    """An empty series raises instead of looking fast."""
    with pytest.raises(NoSamples):
        percentile([], 0.5)


@pytest.mark.parametrize("q", [-0.1, 1.1, float("nan")])
def test_refuses_what_is_no_quantile(q: float) -> None:
    """A quantile outside 0..1 is refused."""
    with pytest.raises(ValueError, match="quantile"):
        percentile([1.0], q)
