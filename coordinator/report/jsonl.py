"""results.jsonl: one record a line, in the catalog's order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

NAME = "results.jsonl"


def write(folder: Path, lines: Iterable[bytes]) -> Path:
    """Write *lines* to ``results.jsonl`` in *folder*; a file that stood there is replaced when the new one is whole."""
    path = folder / NAME
    partial = path.with_suffix(".jsonl.partial")
    with partial.open("wb") as file:
        for line in lines:
            file.write(line + b"\n")
    return partial.replace(path)
