from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "marketplace"
WRITTEN = "127.0.0.1:8737"
WAIT_S = 120.0
QUICK = (
    "calculator",
    "text-tool",
    "threat-detector",
    "unit-converter",
    "helpdesk",
    "notes",
    "weather",
    "invoice-reader",
)


class Marketplace:
    """The example server on a port of its own, and its catalog with that port."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, str(EXAMPLES / "server.py"), "--port", "0"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().split("//")[1].strip()
        self._folder = folder

    def catalog(self, name: str, *skills: str) -> Path:
        """The catalog called *name*, with all skills or only those named."""
        target = self._folder / name
        for source in sorted((EXAMPLES / "catalog").iterdir()):
            if not skills or source.name in skills:
                shutil.copytree(source, target / source.name)
        for manifest in target.rglob("*.json"):
            manifest.write_text(manifest.read_text("utf-8").replace(WRITTEN, self.address), "utf-8")
        return target

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def marketplace(tmp_path: Path) -> Iterator[Marketplace]:
    """A marketplace that nobody has called yet."""
    server = Marketplace(tmp_path)
    yield server
    server.stop()


Command = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def skillmark(tmp_path: Path) -> Iterator[Command]:
    """Start the command as a user would; what still runs at the end of the test is stopped."""
    started: list[subprocess.Popen[str]] = []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLMARK_")}
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")

    def start(*arguments: str | Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "coordinator.cli", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def finished(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of *process*, when it has ended."""
    out, err = process.communicate(timeout=WAIT_S)
    return process.returncode, out, err


def until(happened: Callable[[], Any], what: str) -> Any:
    """Wait until *happened* returns something true, and return that."""
    deadline = time.monotonic() + WAIT_S
    while not (found := happened()):
        assert time.monotonic() < deadline, f"did not happen within {WAIT_S} s: {what}"
        time.sleep(0.05)
    return found


def lines(folder: Path) -> list[dict[str, Any]]:
    """The records in results.jsonl of *folder*."""
    return [json.loads(line) for line in (folder / "results.jsonl").read_text("ascii").splitlines()]


def told(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What two runs on the same skills must agree on: everything but latencies, run ids and canaries."""
    agreed = []
    for record in records:
        pillars = {name: line for name, line in record["pillars"].items() if name != "performance"}
        agreed.append(
            {
                "skill": record["skill"],
                "verdict": record["verdict"],
                "mode": record["mode"],
                "stamps": record["stamps"],
                "pillars": pillars,
                "coverage": record["pillars"].get("performance", {}).get("coverage"),
                "findings": [
                    (one["probe"], one["pillar"], one["category"], one["severity"], one["outcome"], one["score"])
                    for one in record["findings"]
                ],
            }
        )
    return agreed
