"""A TCP proxy whose connections a test can cut."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self
from urllib.parse import urlsplit


class CuttingProxy:
    """Forwards to *host*:*port* until it is told to cut what is open, or to refuse."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._refusing = False
        self._thread = threading.Thread(target=self._accept)
        self.connections = 0

    @classmethod
    def before(cls, url: str) -> CuttingProxy:
        """A proxy in front of the broker of *url*."""
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        return cls(parts.hostname, parts.port)

    def url(self, url: str) -> str:
        """*url*, through this proxy."""
        parts = urlsplit(url)
        port = self._listener.getsockname()[1]
        return parts._replace(netloc=parts.netloc.replace(f":{parts.port}", f":{port}")).geturl()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.refuse(True)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        self.cut()

    def refuse(self, refusing: bool) -> None:
        """Hang up on whoever connects from now on, or stop doing so."""
        self._refusing = refusing

    def cut(self) -> None:
        """Cut every open connection, in mid-stream."""
        with self._lock:
            for side in self._open:
                with contextlib.suppress(OSError):
                    side.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._refusing:
                client.close()
                continue
            self.connections += 1
            try:
                server = socket.create_connection(self._target)
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open |= {client, server}
            ends = threading.Barrier(2, action=lambda pair=(client, server): self._forget(pair))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink, ends), daemon=True).start()

    def _forget(self, pair: tuple[socket.socket, socket.socket]) -> None:
        with self._lock:
            self._open -= set(pair)
        for side in pair:
            side.close()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket, ends: threading.Barrier) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)
        for side in (source, sink):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
        ends.wait()
