from __future__ import annotations

import os
import signal
import socket

import pytest

from tests.fleet import WorkerService, until
from workers.service import AddressTaken, MetricsPage


def test_an_unreachable_broker_is_told_at_once() -> None:
    """Without a broker the service ends with 3 and says where it looked, without the password."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]

    with WorkerService(f"amqp://guest:secret-word@127.0.0.1:{port}/v") as service:
        code = service.process.wait(60)
        text = service.text()

    assert code == 3
    assert f"amqp://guest:***@127.0.0.1:{port}/v" in text
    assert "secret-word" not in text
    assert "Traceback" not in text


def test_a_url_that_is_none_is_told_at_once() -> None:
    """Something else than a broker's URL ends with 3 and an example."""
    with WorkerService("http://guest:secret-word@127.0.0.1/") as service:
        code = service.process.wait(60)
        text = service.text()

    assert code == 3
    assert "expected amqp://" in text
    assert "secret-word" not in text


def test_an_idle_service_stops_on_sigint(broker_url: str) -> None:
    """Ctrl-C ends every process, and the service with 0; the password was never logged."""
    with WorkerService(broker_url, processes=2).ready() as service:
        pids = [line["pid"] for line in service.lines("ready")]
        service.process.send_signal(signal.SIGINT)
        code = service.process.wait(60)
        stopped = {line["pid"] for line in service.lines("stopped")}
        text = service.text()

    assert code == 0
    assert stopped == set(pids)
    assert "guest:guest" not in text


def test_children_do_not_outlive_a_killed_parent(broker_url: str) -> None:
    """SIGKILL of the parent: its worker processes stop by themselves."""
    with WorkerService(broker_url, processes=2).ready() as service:
        pids = [line["pid"] for line in service.lines("ready")]
        service.process.kill()
        service.process.wait()

        until(lambda: not any(_runs(pid) for pid in pids), "the children are gone")
        stopped = {line["pid"] for line in service.lines("stopped")}

    assert stopped == set(pids)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return os.path.exists(f"/proc/{pid}")


def test_metrics_that_cannot_be_served_are_told() -> None:
    """Where another process listens already, the page is refused by a name of ours, and its folder is gone again."""
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(AddressTaken, match="Address already in use"):
        MetricsPage(*taken.getsockname())

    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ
