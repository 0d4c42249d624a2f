"""Tables on terminals that are too narrow for them: the lesser columns give way, the names of the skills never."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

NAME_CHARS = 16  # the least that the first column keeps, where its texts are that long; they are folded
GAP_CHARS = 2


def fitted(console: Console, table: Table, lesser: Sequence[str]) -> Table:
    """*table*, or where *console* is too narrow for it as many columns fewer as needed: those of *lesser*, in order."""
    for gone in range(len(lesser) + 1):
        kept = [column for column in table.columns if column.header not in lesser[:gone]]
        if _least(kept) <= console.width:
            break
    return _only(kept)


def _least(columns: Sequence[Column]) -> int:
    """How many characters a row takes when the first of *columns* is folded."""
    first, *others = (max(cell_len(str(text)) for text in (column.header, *column.cells)) for column in columns)
    return min(NAME_CHARS, first) + sum(others) + GAP_CHARS * len(others)


def _only(columns: Sequence[Column]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.header, justify=column.justify, overflow=column.overflow, no_wrap=column.no_wrap)
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table
