"""Blocking work in threads of its own.

Not `asyncio.to_thread`: its pool is shared and small, so a few hanging skills would hold up every name look-up of the
process. Each piece of work gets a thread that ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from workers.faults import FleetFault

T = TypeVar("T")


async def run_in_threads(works: Sequence[Callable[[], T]], abort: Callable[[], None]) -> list[T]:
    """What each of *works* returned, each run in a daemon thread of its own, in their order.

    When one of them fails, or the caller is cancelled, *abort* is called; it must make the others end soon. It may be
    called from the event loop and must not block.

    Raises:
        FleetFault: If no thread can be had.
        Exception: What one of *works* raised first.
    """
    loop = asyncio.get_running_loop()
    futures = [_start(loop, work) for work in works]
    try:
        return list(await asyncio.gather(*futures))
    except BaseException:
        abort()
        raise
    finally:
        for future in futures:
            # An outcome that nobody waits for any more is not worth a warning.
            future.cancel()


def _start(loop: asyncio.AbstractEventLoop, work: Callable[[], T]) -> asyncio.Future[T]:
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # type: ignore[arg-type] # None only where T is

    def body() -> None:
        value: T | None = None
        caught: BaseException | None = None
        try:
            value = work()
        except BaseException as error:
            caught = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for this any more
            loop.call_soon_threadsafe(settle, value, caught)

    try:
        threading.Thread(target=body, name="latency", daemon=True).start()
    except RuntimeError as error:
        future.set_exception(FleetFault(f"no thread for a latency series: {error}"))
    return future
