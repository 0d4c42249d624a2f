"""Results of one parcel on their way out, a few at a time: a message each is ten times the work for the broker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from workers.wire.result import Result

TOGETHER = 20
LONGEST_S = 0.05


class Outgoing:
    """Hands results to *send* as soon as `TOGETHER` are there or the first has waited `LONGEST_S` seconds.

    Each sending is a task of *sending*: when that group has ended, all of them are safe, or one failed.
    """

    def __init__(
        self, send: Callable[[tuple[Result, ...]], Coroutine[Any, Any, None]], sending: asyncio.TaskGroup
    ) -> None:
        self._send = send
        self._sending = sending
        self._waiting: list[Result] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, result: Result) -> None:
        """Take one result along."""
        self._waiting.append(result)
        if len(self._waiting) >= TOGETHER:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LONGEST_S, self.flush)

    def flush(self) -> None:
        """Send what waits, now."""
        waiting, self._waiting = tuple(self._waiting), []
        self.drop()
        if waiting:
            self._sending.create_task(self._send(waiting))

    def drop(self) -> None:
        """Send nothing more by itself, and forget what waits."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
