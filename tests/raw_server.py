"""A server on a real socket whose every byte a test decides."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from typing import Self

HEAD_END = b"\r\n\r\n"


class RawServer:
    """Runs *handler* in a thread for each connection; *connections* and *requests* count what came."""

    def __init__(self, handler: Callable[[RawServer, socket.socket], None], tls: ssl.SSLContext | None = None) -> None:
        self._handler = handler
        self._tls = tls
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.scheme = "https" if tls else "http"
        self.connections = 0
        self.requests: list[bytes] = []
        self.closing = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        for sock in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def request(self, sock: socket.socket) -> bytes:
        """The next whole request, or nothing at the end of the connection."""
        data = b""
        while HEAD_END not in data:
            piece = sock.recv(65_536)
            if not piece:
                return b""
            data += piece
        head, _, body = data.partition(HEAD_END)
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(body) < length:
            body += sock.recv(65_536)
        self.requests.append(head + HEAD_END + body)
        return self.requests[-1]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                self.connections += 1
                self._open.append(sock)
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if self._tls:
                sock = self._tls.wrap_socket(sock, server_side=True)
                self._open.append(sock)
            self._handler(self, sock)
            if not isinstance(sock, ssl.SSLSocket):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


def answer(body: bytes = b'{"ok": true}', status: int = 200, *headers: str) -> bytes:
    """The bytes of an HTTP/1.1 answer with a length."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + HEAD_END + body


def keeps_alive(server: RawServer, sock: socket.socket) -> None:
    """Answer request after request over one connection."""
    while server.request(sock):
        sock.sendall(answer())


def says_close(server: RawServer, sock: socket.socket) -> None:
    """One answer a connection, announced."""
    server.request(sock)
    sock.sendall(answer(b'{"ok": true}', 200, "Connection: close"))


def cuts(server: RawServer, sock: socket.socket) -> None:
    """Take the request and reset the connection."""
    server.request(sock)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def hangs(server: RawServer, sock: socket.socket) -> None:
    """Take the request and say nothing."""
    server.request(sock)
    server.closing.wait(60)


def drips(server: RawServer, sock: socket.socket) -> None:
    """Send an endless answer a byte at a time."""
    server.request(sock)
    sock.sendall(b"HTTP/1.1 200 X\r\nContent-Length: 100000\r\n\r\n")
    while not server.closing.wait(0.01):
        sock.sendall(b" ")
