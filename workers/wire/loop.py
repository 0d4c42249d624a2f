"""The event loop of a worker process: uvloop, on Dramatiq's loop thread."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import dramatiq
import uvloop
from dramatiq.asyncio import EventLoopThread, get_event_loop_thread, set_event_loop_thread
from dramatiq.middleware import AsyncIO

START_S = 30.0


class _LoopThread(EventLoopThread):
    def __init__(self, logger: logging.Logger) -> None:
        super().__init__(logger)
        self.daemon = True  # a process that failed to stop its worker must still be able to end
        self.loop.close()
        self.loop = uvloop.new_event_loop()


class Loop(AsyncIO):
    """Runs async actors on uvloop.

    *opened* is awaited before the first of them, *closed* when the worker has stopped, both on the loop; what still
    runs then is for *closed* to end.
    """

    def __init__(self, opened: Callable[[], Awaitable[None]], closed: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._opened = opened
        self._closed = closed

    def before_worker_boot(self, broker: dramatiq.Broker, worker: dramatiq.Worker) -> None:
        """Start the loop."""
        thread = _LoopThread(self.logger)
        thread.start(timeout=START_S)
        set_event_loop_thread(thread)
        thread.run_coroutine(self._opened())

    def after_worker_shutdown(self, broker: dramatiq.Broker, worker: dramatiq.Worker) -> None:
        """End what still runs, then the loop."""
        thread = get_event_loop_thread()
        if thread is not None:
            try:
                thread.run_coroutine(self._closed())
            finally:
                thread.stop()  # type: ignore[no-untyped-call] # dramatiq leaves it unannotated
                set_event_loop_thread(None)
