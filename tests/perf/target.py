"""A fast skill to measure against: answers every POST with the same JSON, on many ports of 127.0.0.1.

It runs in a process of its own and prints its ports as one JSON line. Each port is a host of its own to the schedule,
as the skills of a marketplace are.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator

import uvloop

ANSWER = b'{"result": 7}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)


class Skill(asyncio.Protocol):
    """One connection; answers *delay_s* after the last byte of a request."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note where answers go."""
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._received) < end + 4 + length:
                return
            self._received = self._received[end + 4 + length :]
            if self._delay_s:
                asyncio.get_running_loop().call_later(self._delay_s, self._answer)
            else:
                self._answer()

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(HEAD + ANSWER)


async def _serve(ports: int, delay_s: float) -> None:
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(lambda: Skill(delay_s), "127.0.0.1", 0) for _ in range(ports)]
    print(json.dumps([server.sockets[0].getsockname()[1] for server in servers]), flush=True)
    await asyncio.Event().wait()


@contextlib.contextmanager
def target(ports: int, delay_s: float = 0.0) -> Iterator[list[int]]:
    """The ports of a target that runs until the block ends."""
    process = subprocess.Popen([sys.executable, __file__, str(ports), str(delay_s)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1]), float(sys.argv[2])))
