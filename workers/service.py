"""The parent of the worker processes: keeps each of them alive.

`kill -9` of one process of the ``dramatiq`` command ends the whole command; here it costs one restart.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from types import FrameType

import pika
import pika.exceptions
import structlog
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from workers.process import Plan, work
from workers.wire import queues as wire_queues
from workers.wire.amqp import parameters, redacted, why
from workers.wire.callbacks import Callbacks
from workers.wire.faults import BrokerUnreachable

DONE, UNREACHABLE = 0, 3
GRACE_S = 30.0
STOP_S = 10.0  # on top of the grace: for hanging up
TICK_S = 0.2
FIRST_PAUSE_S, LONGEST_PAUSE_S, HEALTHY_S = 0.25, 30.0, 60.0

log = structlog.get_logger(__name__)


def check(broker_url: str) -> None:
    """Connect once and hang up.

    Raises:
        BrokerUnreachable: If that fails; the message says where and why.
    """
    where = parameters(broker_url, "skillmark worker: check")
    try:
        pika.BlockingConnection(where).close()
    except (pika.exceptions.AMQPError, OSError) as error:
        raise BrokerUnreachable(f"no RabbitMQ at {redacted(broker_url)}: {why(error)}") from error


class AddressTaken(Exception):
    """The metrics cannot be served where they should be; the message says where and why."""


class MetricsPage:
    """``/metrics`` for all processes together: each counts into files of a shared folder, the parent adds them up.

    Made before the first process, which learns of the folder from its environment.

    Raises:
        AddressTaken: If nothing can listen at *host* and *port*.
    """

    def __init__(self, host: str, port: int) -> None:
        self._folder = tempfile.mkdtemp(prefix="skillmark-metrics-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = self._folder
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=self._folder)  # type: ignore[no-untyped-call]
        try:
            self._server, _ = start_http_server(port, addr=host, registry=registry)
        except OSError as error:
            self._forget_folder()
            raise AddressTaken(f"{host}:{port}: {error.strerror}") from error
        log.info("metrics", host=host, port=self._server.server_port)

    def forget(self, pid: int) -> None:
        """Drop the gauges of a process that is gone; its counts stay."""
        mark_process_dead(pid, path=self._folder)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Stop serving and remove the folder."""
        self._server.shutdown()
        self._server.server_close()
        self._forget_folder()

    def _forget_folder(self) -> None:
        os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
        shutil.rmtree(self._folder, ignore_errors=True)


class Post:
    """One place in the fleet: a process that is started again whenever it dies, ever more slowly if it keeps dying."""

    def __init__(self, plan: Plan, page: MetricsPage | None = None) -> None:
        self._plan = plan
        self._page = page
        self._pause_s = FIRST_PAUSE_S
        self._not_before = 0.0
        self._started = 0.0
        self.process: BaseProcess | None = None

    def start(self) -> None:
        """Start a process, if none runs and the pause is over."""
        if self.process is not None or time.monotonic() < self._not_before:
            return
        # Not forked: a child must not inherit the locks of its parent's threads.
        self.process = multiprocessing.get_context("spawn").Process(target=work, args=(self._plan,))
        self.process.start()
        self._started = time.monotonic()

    def look(self) -> None:
        """Note a process that died."""
        if self.process is None or self.process.is_alive():
            return
        self.process.join()
        if time.monotonic() - self._started > HEALTHY_S:
            self._pause_s = FIRST_PAUSE_S
        log.error("worker died", pid=self.process.pid, exit_code=self.process.exitcode, restart_in_s=self._pause_s)
        if self._page and self.process.pid:
            self._page.forget(self.process.pid)
        self.process.close()
        self.process = None
        self._not_before = time.monotonic() + self._pause_s
        self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)

    @property
    def runs(self) -> bool:
        """Whether there is a process now."""
        return self.process is not None and self.process.is_alive()

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        if self.process is not None:
            self.process.terminate()

    def end(self) -> None:
        """Kill the process if it still runs."""
        if self.process is None:
            return
        if self.process.is_alive():
            log.error("worker did not stop, killed", pid=self.process.pid)
            self.process.kill()
        self.process.join()
        self.process.close()
        self.process = None


def serve(
    broker_url: str,
    *,
    queues: Sequence[str] = wire_queues.ALL,
    processes: int = 1,
    concurrency: int = 8,
    grace_s: float = GRACE_S,
    metrics: tuple[str, int] | None = None,
    auth_env: Sequence[str] = (),
    allow_exec: bool = False,
    callbacks: Callbacks | None = None,
) -> int:
    """Run *processes* worker processes until SIGTERM or SIGINT; returns the exit code.

    *concurrency* is the number of parcels in flight a process. After the signal running parcels have *grace_s*
    seconds to finish, then they go back to their queues; a second signal ends the grace. *metrics* is the host and port
    for Prometheus, *auth_env* the environment variables that may be sent to skills; *allow_exec*: they may be started
    as programs; *callbacks*: how they reach the processes. Call it on the main thread.

    Raises:
        AddressTaken: If nothing can listen where *metrics* says.
    """
    try:
        check(broker_url)
    except BrokerUnreachable as error:
        hint = "is RabbitMQ running there, and do user, password and vhost fit?"
        log.critical("broker unreachable", error=str(error), hint=hint)
        return UNREACHABLE
    page = MetricsPage(*metrics) if metrics else None
    signals: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        signals.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    plan = Plan(
        broker_url=broker_url,
        queues=tuple(queues),
        concurrency=concurrency,
        grace_s=grace_s,
        metrics=metrics is not None,
        auth_env=tuple(auth_env),
        allow_exec=allow_exec,
        callbacks=callbacks or Callbacks(),
    )
    posts = [Post(plan, page) for _ in range(processes)]
    try:
        while not signals:
            for post in posts:
                post.look()
                post.start()
            time.sleep(TICK_S)
        for post in posts:
            post.ask_to_stop()
        deadline = time.monotonic() + grace_s + STOP_S
        while any(post.runs for post in posts) and len(signals) < 2 and time.monotonic() < deadline:
            time.sleep(TICK_S)
    finally:
        for post in posts:
            post.end()
        if page:
            page.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    return DONE
