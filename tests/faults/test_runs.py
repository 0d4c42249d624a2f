"""Runs whose parts are killed or held up come to the same records as one that nothing happened to."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

import coordinator
from tests.e2e.command import Command, Marketplace, finished, lines, marketplace, skillmark, told, until
from tests.rabbitmq import PrivateRabbit

__all__ = ["marketplace", "skillmark"]

LOOPBACK = ("--allow-network", "127.0.0.0/8")
SETTLED_S = 3.0
"""RabbitMQ 3.10 itself never recovers a quorum queue that was declared a second before it was killed."""
SKILLS = ("calculator", "text-tool", "threat-detector", "unit-converter", "helpdesk")


class Store:
    """A run's ledger, read from the outside."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path}"

    def query(self, statement: str) -> tuple[int, ...]:
        """The one row that *statement* gives; zeros before there are tables."""
        if not self.path.exists():
            return (0, 0, 0)
        with closing(sqlite3.connect(self.path, timeout=30)) as connection:
            try:
                return tuple(connection.execute(statement).fetchone())
            except sqlite3.OperationalError:
                return (0, 0, 0)

    def judged(self) -> int:
        """How many jobs it knows the verdict of."""
        return self.query("SELECT count(*) FROM results")[0]

    def assert_whole(self) -> None:
        """Each job judged, and each once."""
        total, distinct, ours = self.query("SELECT count(*), count(DISTINCT job_id), sum(NOT judged) FROM results")
        assert total == distinct > 0
        assert ours == 0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "fleet.sqlite")


def run_id(path: Path) -> str:
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        return str(connection.execute("SELECT id FROM runs").fetchone()[0])


def test_a_killed_coordinator_is_resumed(
    marketplace: Marketplace, skillmark: Command, broker_url: str, store: Store, tmp_path: Path
) -> None:
    """SIGKILL in mid-run, then --resume: what was judged is not asked again, and the records are those of one run."""
    catalog = marketplace.catalog("catalog", *SKILLS)
    finished(skillmark("certify", catalog, *LOOPBACK, "--out", tmp_path / "embedded"))
    options = (*LOOPBACK, "--broker", broker_url, "--store", store.url, "--out", tmp_path / "fleet")
    skillmark("worker", "--broker", broker_url, "--concurrency", "2")

    first = skillmark("certify", catalog, *options)
    until(lambda: store.judged() >= 20, "the run is under way")
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=30)
    _, out, err = finished(skillmark("certify", catalog, *options, "--resume", run_id(store.path)))

    assert told(lines(tmp_path / "fleet")) == told(lines(tmp_path / "embedded")), out + err
    store.assert_whole()


def test_a_killed_broker_changes_nothing_in_the_results(
    marketplace: Marketplace,
    skillmark: Command,
    broker_url: str,
    rabbitmq: PrivateRabbit,
    store: Store,
    tmp_path: Path,
) -> None:
    """SIGKILL and a restart in mid-run: coordinator and workers come back to it by themselves."""
    catalog = marketplace.catalog("catalog", *SKILLS)
    finished(skillmark("certify", catalog, *LOOPBACK, "--out", tmp_path / "embedded"))
    skillmark("worker", "--broker", broker_url, "--concurrency", "2")

    run = skillmark(
        "certify", catalog, *LOOPBACK, "--broker", broker_url, "--store", store.url, "--out", tmp_path / "fleet"
    )
    until(lambda: store.judged() >= 20, "the run is under way")
    time.sleep(SETTLED_S)
    rabbitmq.kill()
    rabbitmq.start()
    _, out, err = finished(run)

    assert told(lines(tmp_path / "fleet")) == told(lines(tmp_path / "embedded")), out + err
    store.assert_whole()


def test_a_worker_that_is_held_up_blames_no_skill(
    marketplace: Marketplace, skillmark: Command, store: Store, tmp_path: Path
) -> None:
    """Stopped again and again for longer than a call may take: the answers that came meanwhile are taken afterwards."""
    catalog = marketplace.catalog("catalog", "capital-finder")  # it takes its time, so that a stop meets calls
    [manifest] = catalog.rglob("sxm-manifest.json")
    manifest.write_text(json.dumps({**json.loads(manifest.read_text("utf-8")), "test_timeout_ms": 2000}))
    text = (Path(coordinator.__file__).parent / "policies" / "default.toml").read_text("utf-8")
    policy = tmp_path / "policy.toml"
    policy.write_text(text.replace("requests = 20\n", "requests = 3\n").replace("duration_s = 2.0", "duration_s = 0.3"))
    options = (*LOOPBACK, "--policy", policy)
    finished(skillmark("certify", catalog, *options, "--out", tmp_path / "free"))

    run = skillmark("certify", catalog, *options, "--store", store.url, "--out", tmp_path / "held_up")
    until(lambda: store.judged() >= 1, "the run is under way")
    for _ in range(4):
        os.kill(run.pid, signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(run.pid, signal.SIGCONT)
        time.sleep(0.3)
    _, out, err = finished(run)

    assert told(lines(tmp_path / "held_up")) == told(lines(tmp_path / "free")), out + err
    store.assert_whole()
