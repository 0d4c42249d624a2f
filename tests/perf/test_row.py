from __future__ import annotations

import pytest

from tests.perf.row import Row, table


@pytest.mark.parametrize(
    ("share", "least", "most", "held"),
    [
        (None, None, None, None),
        (2.0, None, None, None),
        (0.6, 0.6, None, True),
        (0.59, 0.6, None, False),
        (1.15, None, 1.15, True),
        (1.16, None, 1.15, False),
    ],
)
def test_a_promise_holds_or_is_missed(
    share: float | None, least: float | None, most: float | None, held: bool | None
) -> None:
    """A row without a share or a bound promises nothing; a bound itself is within."""
    row = Row(part="p", name="n", figure=1.0, unit="s", share=share, least=least, most=most)

    assert row.held is held


def test_a_missed_promise_is_seen_in_the_table() -> None:
    """The table has a line a row, and says of each promise what it is and whether it holds."""
    rows = [
        Row(part="throughput", name="bare", figure=12_400.0, unit="requests/s"),
        Row(part="throughput", name="fleet", figure=620.0, unit="jobs/s", against="bare", share=0.05, least=0.6),
    ]

    lines = table(rows).splitlines()

    assert len(lines) == 4
    assert "at least 0.6 | **missed** |" in lines[3]
    assert "missed" not in lines[2]
