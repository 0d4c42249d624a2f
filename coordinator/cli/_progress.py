"""The progress of a run on a terminal: jobs, skills, rate, time left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from coordinator.run import Concluded
from workers.wire.job import Pillar
from workers.wire.result import Result


class _Rate(ProgressColumn):
    """Finished jobs a second."""

    def render(self, task: Task) -> Text:
        """The rate as text, empty until there is one."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.1f} jobs/s", style="progress.data.speed")


class Bar:
    """A `Watcher` that draws on *console*; nothing is drawn off a terminal.

    *count* counts the catalog's entries; it runs in a thread beside the run, which reads the catalog lazily.
    """

    def __init__(self, console: Console, count: Callable[[], int], doing: str = "certifying") -> None:
        self._count = count
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[skills]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(doing, total=0, skills="")
        self._jobs = 0
        self._admitted = 0
        self._concluded = 0
        self._entries: int | None = None

    def __enter__(self) -> Bar:
        """Start drawing."""
        if not self._progress.disable:
            threading.Thread(target=self._count_entries, daemon=True).start()
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop drawing and leave the terminal as it was."""
        self._progress.stop()

    def admitted(self, jobs: int) -> None:
        """A skill was taken up: its jobs count, and those of the entries still to come are expected to be as many."""
        self._jobs += jobs
        self._admitted += 1
        self._draw()

    def published(self, pillar: Pillar, jobs: int) -> None:
        """Not drawn."""

    def ended(self, result: Result) -> None:
        """One job further."""
        self._progress.advance(self._task)

    def concluded(self, concluded: Concluded) -> None:
        """One skill further."""
        self._concluded += 1
        self._draw()

    def _draw(self) -> None:
        total = self._jobs
        if self._entries is not None and self._admitted:
            unread = max(0, self._entries - self._concluded - (self._admitted - self._ended_skills()))
            total += unread * self._jobs // self._admitted
        of = "" if self._entries is None else f" of {self._entries}"
        self._progress.update(self._task, total=total, skills=f"{self._concluded}{of} skills")

    def _ended_skills(self) -> int:
        return min(self._concluded, self._admitted)

    def _count_entries(self) -> None:
        self._entries = self._count()
