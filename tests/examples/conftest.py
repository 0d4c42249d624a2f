from __future__ import annotations

import http.client
import importlib
import json
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


class Marketplace:
    """The example server in a process of its own, and one keep-alive connection to it."""

    def __init__(self) -> None:
        command = [sys.executable, str(EXAMPLES / "marketplace" / "server.py"), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        self.port = int(self.line.rsplit(":", 1)[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        self.connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        return response.status, response.read()

    def call(self, skill: str, inputs: Any) -> tuple[int, Any]:
        status, body = self.post(f"/skills/{skill}", json.dumps(inputs).encode())
        return status, json.loads(body)

    def stop(self) -> int:
        self.connection.close()
        self.process.terminate()
        code = self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def _started() -> Iterator[Marketplace]:
    server = Marketplace()
    yield server
    if server.process.poll() is None:
        server.stop()


@pytest.fixture(scope="module")
def shared() -> Iterator[Marketplace]:
    """One server for all tests of a module: for skills that remember nothing."""
    yield from _started()


@pytest.fixture
def fresh() -> Iterator[Marketplace]:
    """A server that nobody has called yet."""
    yield from _started()


@pytest.fixture(scope="session")
def skill() -> Iterator[Callable[[str], ModuleType]]:
    """The module of one skill, by its file's name."""
    sys.path.insert(0, str(EXAMPLES / "marketplace"))
    yield lambda name: importlib.import_module(f"skills.{name}")
    sys.path.remove(str(EXAMPLES / "marketplace"))


@pytest.fixture(scope="session")
def manifests() -> dict[str, dict[str, Any]]:
    """The catalog's manifests as written, by folder."""
    files = (EXAMPLES / "marketplace" / "catalog").glob("*/*.json")
    return {file.parent.name: json.loads(file.read_text("utf-8")) for file in files}


@pytest.fixture(scope="session")
def expected() -> dict[str, tuple[str, str | None]]:
    """The table in expected.py."""
    table: dict[str, tuple[str, str | None]] = runpy.run_path(str(Path(__file__).with_name("expected.py")))["EXPECTED"]
    return table
