"""Real MCP servers as test peers; ``make test`` installs them (tests/install_mcp_peers.sh)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.rabbitmq import free_ports

FOLDER = Path(__file__).parent.parent / ".mcp-peers"
COMMANDS = {
    "time": ("bin/python", "-m", "mcp_server_time", "--local-timezone", "UTC"),
    "calculator": ("bin/python", "-m", "mcp_server_calculator"),
    "everything": ("node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"),
}
START_S = 60.0


def command(name: str) -> list[str]:
    """The command, in absolute paths, that starts the peer *name* over stdio; skips the test without it."""
    folder = FOLDER / name
    if not (folder / ".installed").exists():
        reason = f"the MCP server {name!r} is not installed: sh tests/install_mcp_peers.sh python3 .mcp-peers"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"CI must test against real MCP servers: {reason}")
        pytest.skip(reason)
    return [str(folder / part) if (folder / part).exists() else part for part in COMMANDS[name]]


@contextmanager
def everything() -> Iterator[str]:
    """The endpoint of server-everything over streamable HTTP, which has sessions."""
    [port] = free_ports(1)
    with _serving([*command("everything")[:-1], "streamableHttp"], f"http://127.0.0.1:{port}/mcp", port) as endpoint:
        yield endpoint


@contextmanager
def modern(*arguments: str) -> Iterator[str]:
    """The endpoint of a small server of the protocol's own SDK, which speaks 2026-07-28 and the older versions."""
    [port] = free_ports(1)
    python, script = command("time")[0], str(Path(__file__).parent / "mcp_modern.py")
    with _serving([python, script, str(port), *arguments], f"http://127.0.0.1:{port}/mcp", port) as endpoint:
        yield endpoint


@contextmanager
def _serving(arguments: list[str], endpoint: str, port: int) -> Iterator[str]:
    process = subprocess.Popen(
        arguments,
        env={"PATH": os.environ.get("PATH", ""), "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + START_S
        while True:
            try:
                httpx.get(endpoint, headers={"Accept": "application/json"}, timeout=5)
            except httpx.TransportError:
                assert process.poll() is None, f"{arguments[1]} ended before it served"
                assert time.monotonic() < deadline, f"{arguments[1]} did not serve within {START_S} s"
                time.sleep(0.1)
            else:
                break
        yield endpoint
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
