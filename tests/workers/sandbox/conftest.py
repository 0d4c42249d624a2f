"""Programs started for real, with bubblewrap and without."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from workers.sandbox import bubblewrap
from workers.sandbox.child import start
from workers.sandbox.program import Limits, Program


class Ran(Struct):
    """What a program came to."""

    output: str
    errors: str
    ending: str
    confined: bool


Run = Callable[..., Ran]


@pytest.fixture(params=["bubblewrap", "plain"])
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How programs are started in this test."""
    kind: str = request.param
    if kind == "plain":
        without_bubblewrap(monkeypatch)
    else:
        need_bubblewrap()
    return kind


@pytest.fixture
def run(sandbox: str, tmp_path: Path) -> Run:
    """Runs a shell script to its end."""

    def runs(script: str, data: bytes = b"", *, limits: Limits | None = None, **variables: str) -> Ran:
        return asyncio.run(_run(script, data, tmp_path, limits or Limits(), variables))

    return runs


def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this machine one that has none."""

    async def none() -> str:
        return ""

    monkeypatch.setattr(bubblewrap, "usable", none)


def need_bubblewrap() -> None:
    """Skip the test where there is none that works; fail where that must not be."""
    if asyncio.run(bubblewrap.usable()):
        return
    reason = "no bubblewrap that works here: apt-get install bubblewrap"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"CI must test the sandbox: {reason}")
    pytest.skip(reason)


async def _run(script: str, data: bytes, folder: Path, limits: Limits, variables: dict[str, str]) -> Ran:
    child = await start(Program(argv=("sh", "-c", script), folder=str(folder), variables=variables), limits)
    try:
        async with asyncio.timeout(60):
            writing = asyncio.ensure_future(child.write(data, last=True))
            output = b""
            while piece := await child.read():
                output += piece
            ending = await child.ending()
            await writing
    finally:
        await child.aclose()
    return Ran(output.decode(), child.errors, ending, child.confined)
