from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.pace import Pace


@given(st.floats(0.1, 1000), st.lists(st.floats(0, 5), min_size=1, max_size=50))
def test_turns_are_never_closer_than_the_limit(per_second: float, gaps: list[float]) -> None:
    """However the calls arrive, any two turns lie at least an interval apart, the first one from the start."""
    now, turns = 100.0, [100.0]
    pace = Pace(per_second, now)

    for gap in gaps:
        now += gap
        turns.append(now + pace.wait_s(now))

    assert all(later - earlier >= 1 / per_second - 1e-6 for earlier, later in pairwise(turns))


def test_whoever_is_slower_than_the_limit_never_waits() -> None:
    """A call that comes late enough goes at once."""
    pace = Pace(2.0, now=10.0)

    assert [pace.wait_s(10.5), pace.wait_s(11.0), pace.wait_s(30.0)] == [0, 0, 0]
    assert pace.wait_s(30.1) == pytest.approx(0.4)
