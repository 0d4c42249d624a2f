"""Who watches a run from the command line: a progress bar on a terminal, nobody off it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coordinator.run import Watcher


@contextmanager
def watching(count: Callable[[], int], doing: str = "certifying") -> Iterator[tuple[Watcher, ...]]:
    """The watchers of a run over as many entries as *count* says, drawn until the block ends."""
    if not sys.stderr.isatty():
        yield ()
        return
    from rich.console import Console

    from coordinator.cli._progress import Bar

    with Bar(Console(stderr=True), count, doing) as bar:
        yield (bar,)
