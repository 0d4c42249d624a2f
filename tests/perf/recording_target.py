"""Skills that keep their own record of how long each request took, for the latency probe to be compared with.

Each port of 127.0.0.1 is one skill. It answers after a wait of its own, which differs from request to request, and
notes twice how long that took: by its own clock, from the moment it had read the request to the moment it sends the
answer, and by the kernel's stamps on its side. The first is what the operator of a skill would see; the difference is
how long the skill itself waited for a core.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workers import timestamps

ANSWER = b'{"result": 7}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)


class Skill:
    """One listening port, and the record of what came through it."""

    def __init__(self, number: int, tls: ssl.SSLContext | None) -> None:
        self._random = random.Random(number)
        self._tls = tls
        # Skills differ by themselves, and each from answer to answer.
        self._usual_s = self._random.uniform(0.002, 0.05)
        self.record: list[tuple[float, float | None]] = []
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            sock, _ = self._listening.accept()
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with sock, contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                with self._tls.wrap_socket(sock, server_side=True) as secure:
                    while _request(secure, stamped=False)[0]:
                        self._answer(secure, None)
                return
            timestamps.enable(sock)
            while True:
                whole, stamp = _request(sock, stamped=True)
                if not whole:
                    return
                self._answer(sock, stamp)

    def _answer(self, sock: socket.socket, arrived_ns: int | None) -> None:
        begun_ns = time.perf_counter_ns()
        time.sleep(self._usual_s * self._random.uniform(0.8, 1.6))
        took_ms = (time.perf_counter_ns() - begun_ns) / 1e6
        sock.sendall(HEAD + ANSWER)
        kernel_ms = None
        if arrived_ns is not None and (left := _left(sock)) is not None:
            kernel_ms = (left - arrived_ns) / 1e6
        self.record.append((took_ms, kernel_ms))


def _request(sock: socket.socket, *, stamped: bool) -> tuple[bytes, int | None]:
    received, stamp = b"", None
    while True:
        head, mark, body = received.partition(b"\r\n\r\n")
        if mark:
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            if len(body) >= length:
                return received, stamp
        data, stamp = timestamps.receive(sock, 65_536) if stamped else (sock.recv(65_536), None)
        if not data:
            return b"", None
        received += data


def _left(sock: socket.socket) -> int | None:
    for _ in range(20):
        if found := timestamps.departures(sock):
            return max(found.values())
        time.sleep(0.0005)
    return None


class Recording:
    """A recording target in a process of its own: the *ports* of its skills, and their records."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.ports: list[int] = self._line()

    def records(self) -> dict[int, list[tuple[float, float | None]]]:
        """By port, for each request in order: how long it took in ms, by the skill's clock and by the kernel's."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return {int(port): [(one[0], one[1]) for one in record] for port, record in self._line().items()}

    def _line(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


@contextlib.contextmanager
def recording(skills: int, *, tls: Path | None = None) -> Iterator[Recording]:
    """A target of so many *skills* that runs until the block ends; *tls*: the file of its certificate and key."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.perf.recording_target", str(skills), *([str(tls)] if tls else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Recording(process)
    finally:
        process.terminate()
        process.communicate()


def _main(count: str, *tls: str) -> None:
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
    timestamps.switch_on()
    skills = [Skill(number, context) for number in range(int(count))]
    print(json.dumps([skill.port for skill in skills]), flush=True)
    for _ in sys.stdin:
        print(json.dumps({skill.port: skill.record for skill in skills}), flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
