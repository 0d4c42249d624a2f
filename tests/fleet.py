"""A worker service as the command starts it, and a coordinator's side that publishes parcels and collects results."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

from coordinator.courier import Courier
from workers.wire.job import Parcel
from workers.wire.result import Result

WAIT_S = 90.0

SERVE = """
import sys
from workers.service import serve
from workers.wire import logs

if __name__ == "__main__":
    logs.configure(json=True)
    url, queues, processes, concurrency, grace_s = sys.argv[1:]
    sys.exit(serve(url, queues=queues.split(","), processes=int(processes), concurrency=int(concurrency),
                   grace_s=float(grace_s)))
"""


def until(happened: Callable[[], Any], what: str) -> Any:
    """Wait until *happened* returns something true, and return that."""
    deadline = time.monotonic() + WAIT_S
    while not (found := happened()):
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen within {WAIT_S} s: {what}")
        time.sleep(0.02)
    return found


class WorkerService:
    """The parent process and its children, from the outside: signals, exit code, log lines."""

    def __init__(
        self,
        url: str,
        *,
        queues: Sequence[str] = ("skillmark.functional",),
        processes: int = 1,
        concurrency: int = 4,
        grace_s: float = 30.0,
    ) -> None:
        self._processes = processes
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the service
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, url, ",".join(queues), str(processes), str(concurrency), str(grace_s)],
            stderr=self._log,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._log.close()

    def text(self) -> str:
        """Everything it has logged."""
        return os.pread(self._log.fileno(), 10_000_000, 0).decode()

    def lines(self, event: str) -> list[dict[str, Any]]:
        """The log lines with this event."""
        return [line for text in self.text().splitlines() if (line := _parsed(text)).get("event") == event]

    def ready(self) -> Self:
        """Wait until every process consumes."""
        until(lambda: len(self.lines("ready")) >= self._processes or self.process.poll() is not None, "ready")
        assert self.process.poll() is None, self.text()
        return self

    def kill_worker(self) -> int:
        """SIGKILL the worker process that got ready last; returns its pid."""
        pid: int = self.lines("ready")[-1]["pid"]
        os.kill(pid, signal.SIGKILL)
        return pid

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        self.process.terminate()
        return self.process.wait(WAIT_S)


def _parsed(text: str) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except ValueError:
        return {}
    return line if isinstance(line, dict) else {}


async def publish_all(courier: Courier, parcels: Sequence[Parcel]) -> None:
    """Publish *parcels*, as many at once as the courier lets through."""
    await asyncio.gather(*(courier.publish(parcel) for parcel in parcels))


async def collect(courier: Courier, count: int, *, seen: Callable[[int], Any] = lambda _: None) -> dict[str, Result]:
    """The first result of each of *count* jobs, as a ledger would keep them; *seen* is told how many there are."""
    found: dict[str, Result] = {}

    async def listen() -> None:
        async for batch in courier.batches():
            for result in batch.results:
                found.setdefault(result.job_id, result)
            await batch.ack()
            seen(len(found))
            if len(found) >= count:
                return

    try:
        await asyncio.wait_for(listen(), WAIT_S)
    except TimeoutError:
        raise AssertionError(f"{len(found)} of {count} results within {WAIT_S} s") from None
    return found
