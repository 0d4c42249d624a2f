from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path

from tests.e2e.command import Command, Marketplace, finished, lines, told, until

LOOPBACK = ("--allow-network", "127.0.0.0/8")
# Left out: skills whose answers depend on how many calls came before, which a redelivery changes; and the slow one.
SKILLS = ("calculator", "text-tool", "threat-detector", "unit-converter", "helpdesk", "summariser", "invoice-reader")


class Workers:
    """The worker command, from the outside: its log lines."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.log: list[dict[str, object]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            try:
                self.log.append(json.loads(line))
            except ValueError:
                self.log.append({"event": line})

    def pids(self) -> list[int]:
        """The processes that got ready, in that order."""
        return [int(str(line["pid"])) for line in list(self.log) if line.get("event") == "ready"]

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        self.process.terminate()
        code = self.process.wait(60)
        self._reader.join(10)
        return code


def judged(store: Path) -> int:
    """How many jobs the ledger knows the verdict of."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store, timeout=30)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_a_killed_worker_changes_nothing_in_the_results(
    marketplace: Marketplace, skillmark: Command, broker_url: str, tmp_path: Path
) -> None:
    """Two workers, one killed with SIGKILL in mid-run: the same results.jsonl as embedded, each job judged once."""
    catalog, store = marketplace.catalog("catalog", *SKILLS), tmp_path / "fleet.sqlite"
    alone = finished(skillmark("certify", catalog, *LOOPBACK, "--out", tmp_path / "embedded"))
    workers = Workers(skillmark("worker", "--broker", broker_url, "--processes", "2", "--concurrency", "2"))
    until(lambda: len(workers.pids()) == 2, "two workers are ready")

    fleet = ("--broker", broker_url, "--store", f"sqlite:///{store}", "--out", tmp_path / "fleet")
    run = skillmark("certify", catalog, *LOOPBACK, *fleet)
    until(lambda: judged(store) >= 5, "the run is under way")
    os.kill(workers.pids()[0], signal.SIGKILL)
    code, stdout, stderr = finished(run)
    until(lambda: len(workers.pids()) == 3, "the killed worker is replaced")

    assert code == alone[0] == 4, stdout + stderr
    assert told(lines(tmp_path / "fleet")) == told(lines(tmp_path / "embedded"))
    assert workers.stop() == 0
    with closing(sqlite3.connect(store)) as connection:
        total, distinct, ours = connection.execute(
            "SELECT count(*), count(DISTINCT job_id), sum(NOT judged) FROM results"
        ).fetchone()
    planned = sum(
        "points" not in one  # those are of the static checks, which are no jobs
        for record in lines(tmp_path / "fleet")
        for one in record["findings"]
    )
    assert (total, distinct, ours) == (planned, planned, 0)


def test_a_run_waits_for_its_first_worker_and_says_so(
    marketplace: Marketplace, skillmark: Command, broker_url: str, tmp_path: Path
) -> None:
    """Without a worker the run says which queue nobody serves, and goes on when one comes."""
    catalog = marketplace.catalog("catalog", "calculator")
    run = skillmark("certify", catalog, *LOOPBACK, "--broker", broker_url, "--out", tmp_path / "out")
    assert run.stderr is not None

    warning = json.loads(next(line for line in run.stderr if "no worker listens" in line))
    workers = Workers(skillmark("worker", "--broker", broker_url))
    code, _, _ = finished(run)

    assert warning["queue"] == "skillmark.functional"
    assert "skillmark worker --broker" in warning["start"]
    assert "guest:guest" not in warning["start"]
    assert code == 0
    assert [one["verdict"] for one in lines(tmp_path / "out")] == ["certified"]
    assert workers.stop() == 0
