from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.range.wilson import wilson


@pytest.mark.parametrize(
    ("hits", "trials", "expected"),
    [(0, 10, (0.0, 0.2775)), (10, 10, (0.7225, 1.0)), (81, 263, (0.2553, 0.3662)), (0, 0, (0.0, 1.0))],
)
def test_known_intervals(hits: int, trials: int, expected: tuple[float, float]) -> None:
    """Figures that can be looked up: 81 of 263 is Newcombe's (1998) example."""
    assert wilson(hits, trials) == pytest.approx(expected, abs=5e-4)


@given(trials=st.integers(1, 10_000), data=st.data())
def test_an_interval_holds_its_share(trials: int, data: st.DataObject) -> None:
    """Between 0 and 1, around the share, and narrower with ten times the trials."""
    hits = data.draw(st.integers(0, trials))

    low, high = wilson(hits, trials)
    wide = high - low
    narrow = wilson(10 * hits, 10 * trials)

    assert 0 <= low <= hits / trials + 1e-12
    assert hits / trials - 1e-12 <= high <= 1
    assert narrow[1] - narrow[0] < wide
