"""The ceiling: the adapter's HTTP client in a bare loop. No broker, no ledger, no evaluator, no schedule."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import time

import aiohttp
import httpx
import uvloop
from httpx_aiohttp import AiohttpTransport

BODY = b'{"a":3,"b":4}'
IN_FLIGHT = 64


async def _post(ports: list[int], requests: int) -> float:
    transport = AiohttpTransport(client=lambda: aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
    urls = itertools.cycle([httpx.URL(f"http://127.0.0.1:{port}/") for port in ports])
    left = iter(range(requests))
    headers = {"Content-Type": "application/json", "Content-Length": str(len(BODY)), "Accept": "application/json"}

    async def lane() -> None:
        for _ in left:
            response = await transport.handle_async_request(
                httpx.Request("POST", next(urls), headers=headers, content=BODY)
            )
            await response.aread()
            await response.aclose()

    started = time.perf_counter()
    await asyncio.gather(*(lane() for _ in range(IN_FLIGHT)))
    took_s = time.perf_counter() - started
    await transport.aclose()
    return took_s


def run(ports: list[int], requests: int, processes: int) -> float:
    """Requests a second of *processes* loops together."""
    each = requests // processes
    loops = [
        subprocess.Popen([sys.executable, __file__, json.dumps(ports), str(each)], stdout=subprocess.PIPE)
        for _ in range(processes)
    ]
    took_s = [float(loop.communicate()[0]) for loop in loops]
    return each * processes / max(took_s)


if __name__ == "__main__":
    print(uvloop.run(_post(json.loads(sys.argv[1]), int(sys.argv[2]))))
