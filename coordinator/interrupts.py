"""SIGINT and SIGTERM in work that runs on the main thread without a loop: between two steps, never within one.

Python raises `KeyboardInterrupt` wherever the main thread stands. In the middle of a transaction that leaves a
connection behind that holds the store's lock, and whoever writes next waits for it in vain.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Both signals raise `KeyboardInterrupt` while this context lasts, and once a `held` step has ended, not in it.

    Only the main thread may listen to signals; on another one the context changes nothing.
    """

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self._held = False
        self._came = False

    def __enter__(self) -> Self:
        """Listen."""
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in NUMBERS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Let those listen who did before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """A step that is finished before a signal counts."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._came:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True
        if not self._held:
            raise KeyboardInterrupt
