from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from tests.e2e.command import WAIT_S

SKILL = {
    "version": "1.0.0",
    "description": "Adds two numbers.",
    "inputs": ["a (number)", "b (number)"],
    "outputs": ["sum"],
}


def command(catalog: Path, folder: Path, *options: str) -> list[str]:
    store = f"sqlite:///{folder / 'ledger.sqlite'}"
    return [
        sys.executable, "-m", "coordinator.cli", "certify", str(catalog), "--mode", "static", "--store", store,
        *options,
    ]  # fmt: skip


def catalog(folder: Path, skills: int) -> Path:
    path = folder / "skills.jsonl"
    path.write_text("\n".join(json.dumps({**SKILL, "name": f"Adder {number}"}) for number in range(skills)))
    return path


def test_ctrl_c_ends_a_static_run_with_130_and_what_it_has(tmp_path: Path) -> None:
    """The reports hold the skills that were done with, and --resume goes on with the rest."""
    place, out = catalog(tmp_path, 40_000), tmp_path / "out"
    begun = subprocess.Popen(
        command(place, tmp_path, "--out", str(out), "--format", "summary"),
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True, text=True,
    )  # fmt: skip
    _wait_for_records(tmp_path / "ledger.sqlite")

    os.killpg(begun.pid, signal.SIGINT)
    _, told = begun.communicate(timeout=WAIT_S)

    assert begun.returncode == 130, told
    assert "--resume" in told
    records = (out / "results.jsonl").read_text().splitlines()
    assert 0 < len(records) < 40_000
    assert "The run was cut short" in (out / "summary.md").read_text()


def test_a_folder_of_skills_on_stdout_as_sarif(tmp_path: Path) -> None:
    """Static mode needs no broker, no network and no process beside it."""
    done = subprocess.run(
        command(catalog(tmp_path, 3), tmp_path, "--format", "sarif", "--broker", "amqp://127.0.0.1:1/"),
        capture_output=True, check=False, text=True, timeout=WAIT_S,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["runs"][0]["results"]
    assert {one["properties"]["skill"] for one in results} == {"adder-0", "adder-1", "adder-2"}


def test_a_benchmark_is_not_said_to_have_been_asked(tmp_path: Path) -> None:
    """Nobody is called: it is named as left out, and no record is stamped with it."""
    done = subprocess.run(
        command(catalog(tmp_path, 1), tmp_path, "--benchmark", "coding-easy", "--out", str(tmp_path / "out")),
        capture_output=True, check=False, text=True, timeout=WAIT_S,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "coding-easy" in done.stderr
    (line,) = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    assert json.loads(line)["stamps"]["benchmarks"] == {}


def _wait_for_records(ledger: Path) -> None:
    """Until the run has entered some: then its processes are at work."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        try:
            with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as connection:
                if connection.execute("SELECT count(*) FROM records").fetchone()[0]:
                    return
        except sqlite3.OperationalError:
            pass  # not made yet
        time.sleep(0.1)
    raise AssertionError("no record")
