"""results.jsonl: one record a line, in the catalog's order."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.report.report import Report

FILE = "results.jsonl"


def render(report: Report) -> Iterator[str]:
    """The lines as the ledger has them."""
    for line in report.lines():
        yield line.decode("ascii") + "\n"
