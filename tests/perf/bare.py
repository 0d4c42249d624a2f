"""The ceilings: the HTTP client in a bare loop, and the http adapter around it. No broker, ledger, evaluator, schedule.

What the adapter adds is what safety costs: one deadline for all, checked addresses, bounded bodies, redaction.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import aiohttp
import httpx
import uvloop
from httpx_aiohttp import AiohttpTransport

from tests.perf.catalog import INPUT
from workers.adapters import http
from workers.wire.skill import Access, SkillRef

IN_FLIGHT = 64
CLIENT, ADAPTER = "client", "adapter"

Call = Callable[[], Awaitable[object]]


@asynccontextmanager
async def _client(ports: Sequence[int]) -> AsyncIterator[Call]:
    transport = AiohttpTransport(client=lambda: aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
    urls = itertools.cycle([httpx.URL(f"http://127.0.0.1:{port}/") for port in ports])
    body = json.dumps(INPUT).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Accept": "application/json"}

    async def call() -> None:
        request = httpx.Request("POST", next(urls), headers=headers, content=body)
        response = await transport.handle_async_request(request)
        await response.aread()
        await response.aclose()

    yield call
    await transport.aclose()


@asynccontextmanager
async def _adapter(ports: Sequence[int]) -> AsyncIterator[Call]:
    adapter = http.open()
    skills = itertools.cycle(
        SkillRef(
            id=str(port),
            name="adder",
            version="1.0.0",
            digest=f"sha256:{port:064d}",
            access=Access(adapter="http", endpoint=f"http://127.0.0.1:{port}/"),
            input_schema={},
            allow_networks=("127.0.0.0/8",),
        )
        for port in ports
    )
    yield lambda: adapter.call(next(skills), INPUT, deadline_s=30.0)
    await adapter.aclose()


async def _post(what: str, ports: Sequence[int], requests: int) -> float:
    left = iter(range(requests))
    async with (_client if what == CLIENT else _adapter)(ports) as call:

        async def lane() -> None:
            for _ in left:
                await call()

        started = time.perf_counter()
        await asyncio.gather(*(lane() for _ in range(IN_FLIGHT)))
        return time.perf_counter() - started


def run(what: str, ports: list[int], requests: int, processes: int) -> float:
    """Requests a second of *processes* loops together; *what* is `CLIENT` or `ADAPTER`."""
    each = requests // processes
    command = [sys.executable, "-m", "tests.perf.bare", what, json.dumps(ports), str(each)]
    loops = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(processes)]
    took_s = [float(loop.communicate()[0]) for loop in loops]
    return each * processes / max(took_s)


if __name__ == "__main__":
    print(uvloop.run(_post(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))))
