from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from coordinator.report.narrow import fitted

NAMES = ["io.github.example/a-calculator-of-tides/calculate", "clock"]
LESSER = ("P95 MS", "VERSION")


def table() -> Table:
    """Two skills, with what is known of them."""
    made = Table(box=None, pad_edge=False)
    made.add_column("SKILL", overflow="fold")
    for header in ("VERSION", "P95 MS", "VERDICT"):
        made.add_column(header, no_wrap=True)
    for name in NAMES:
        made.add_row(name, "1.2.0", "801.5", "not certified")
    return made


def shown(width: int) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    console.print(fitted(console, table(), LESSER))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("width", "headers"),
    [
        (120, ["SKILL", "VERSION", "P95 MS", "VERDICT"]),
        (48, ["SKILL", "VERSION", "P95 MS", "VERDICT"]),
        (47, ["SKILL", "VERSION", "VERDICT"]),
        (32, ["SKILL", "VERDICT"]),
    ],
)
def test_lesser_columns_give_way(width: int, headers: list[str]) -> None:
    """As many columns are left out as are too wide together, the least important first."""
    first = shown(width).splitlines()[0]

    assert first.replace("P95 MS", "P95_MS").split() == [one.replace(" ", "_") for one in headers]


@given(st.integers(31, 200))
def test_names_and_verdicts_are_always_whole(width: int) -> None:
    """Whatever the width, no name is cut: it is folded at most; and each skill has its verdict."""
    lines = shown(width).splitlines()[1:]

    folded = "".join(line[:16].strip() if width < 80 else line.split()[0] for line in lines)
    assert "clock" in folded
    assert sum("not certified" in line for line in lines) == len(NAMES)
    assert "…" not in "".join(lines)


def test_a_table_without_rows_is_shown() -> None:
    """A catalog of nothing has its headers."""
    console = Console(file=io.StringIO(), width=20)
    empty = Table()
    empty.add_column("SKILL")

    assert [column.header for column in fitted(console, empty, LESSER).columns] == ["SKILL"]
