"""One line of the bench's table: a figure and, where something is promised of it, the promise."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Row(Struct, frozen=True, kw_only=True):
    """*share* is *figure* over what it is held against; *least* and *most* bound it, where anything is promised."""

    part: str
    name: str
    figure: float
    unit: str
    against: str = ""
    share: float | None = None
    least: float | None = None
    most: float | None = None

    @property
    def held(self) -> bool | None:
        """Whether the promise holds; None where there is none."""
        if self.share is None or (self.least is None and self.most is None):
            return None
        return (self.least is None or self.share >= self.least) and (self.most is None or self.share <= self.most)


def table(rows: Iterable[Row]) -> str:
    """*rows* as a Markdown table."""
    lines = ["| part | row | figure | against | share | promised | |", "|---|---|--:|---|--:|---|---|"]
    for row in rows:
        promised = "" if row.held is None else _promise(row)
        shown = "" if row.share is None else f"{row.share:.3g}"
        mark = {None: "", True: "held", False: "**missed**"}[row.held]
        cells = (row.part, row.name, f"{row.figure:,.4g} {row.unit}", row.against, shown, promised, mark)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _promise(row: Row) -> str:
    return f"at least {row.least:g}" if row.least is not None else f"at most {row.most:g}"
