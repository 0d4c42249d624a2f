"""The example marketplace: every skill of `skills`, on one small HTTP/1.1 server.

    python examples/marketplace/server.py --port 0

prints one line, ``listening on http://127.0.0.1:PORT``, and serves ``POST /skills/<name>`` and ``GET /healthz`` until
SIGTERM or Ctrl-C. A thread a connection: the skills may block, and a client keeps few connections.
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import skills
from skills._inputs import BadInput

DEFAULT_PORT = 8737
MOST_BYTES = 4 << 20  # of a request body
IDLE_S = 30.0
LINGER_S = 1.0
LINGER_READS = 256
STOP_POLL_S = 0.05


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "example-marketplace"
    sys_version = ""
    timeout = IDLE_S
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024  # head and body leave in one segment
    server: Marketplace

    def do_GET(self) -> None:
        """Say that the server is up."""
        if self.path == "/healthz":
            self._send(200, {"status": "ok", "skills": sorted(self.server.answers)})
        else:
            self._send(404, {"error": "no such page"})

    def do_POST(self) -> None:
        """Call a skill."""
        body = self._body()
        if body is None:
            return
        answer = self.server.answers.get(self.path.removeprefix("/skills/"))
        if answer is None or not self.path.startswith("/skills/"):
            self._send(404, {"error": "no such skill"})
            return
        try:
            status, reply = answer(_inputs_of(body))
        except BadInput as error:
            status, reply = 400, {"error": str(error)}
        self._send(status, reply)

    def handle_expect_100(self) -> bool:
        """Let a client that asked first go on at once, not when the buffer is next emptied."""
        go_on = super().handle_expect_100()
        self.wfile.flush()
        return go_on

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is inherited
        """Keep the terminal clear for the demo."""

    def _body(self) -> bytes | None:
        """The request's body, or None where an error has been answered instead."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._refuse(411, "send a Content-Length")
            return None
        if len(length) > 12 or int(length) > MOST_BYTES:
            self._refuse(413, f"send at most {MOST_BYTES} bytes")
            return None
        return self.rfile.read(int(length))

    def _refuse(self, status: int, reason: str) -> None:
        """Answer a request whose body stays unread, and end the connection."""
        self.close_connection = True
        self._send(status, {"error": reason})
        self.wfile.flush()
        # To close over unread bytes resets the connection, and the answer may be lost with it.
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(LINGER_S)
        for _ in range(LINGER_READS):
            if not self.rfile.read1(1 << 16):
                break

    def _send(self, status: int, reply: Any) -> None:
        # backslashreplace writes a lone surrogate, which UTF-8 cannot hold, as the JSON escape that it came in as.
        raw = isinstance(reply, bytes)
        body = reply if raw else json.dumps(reply, ensure_ascii=False).encode("utf-8", "backslashreplace")
        self.send_response(HTTPStatus(status))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


class Marketplace(ThreadingHTTPServer):
    """The server and the skills that it offers, by name."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], answers: dict[str, skills.Answer]) -> None:
        self.answers = answers
        super().__init__(address, Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report a bug of ours; a client that hangs up early is none."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _inputs_of(body: bytes) -> dict[str, Any]:
    """The JSON object in *body*.

    Raises:
        BadInput: If there is none.
    """
    try:
        inputs = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise BadInput("the body must be JSON in UTF-8") from None
    if not isinstance(inputs, dict):
        raise BadInput("the body must be a JSON object")
    return inputs


def main() -> int:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(description="The example marketplace: HTTP skills to certify.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 takes a free one (default: %(default)s)")
    options = parser.parse_args()
    # Blocked before any thread starts, so that only the wait below ever sees them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    try:
        server = Marketplace((options.host, options.port), skills.load())
    except OSError as error:
        print(f"cannot listen on {options.host}:{options.port}: {error.strerror}", file=sys.stderr)
        return 1
    with server:
        threading.Thread(target=server.serve_forever, args=(STOP_POLL_S,), name="accept", daemon=True).start()
        print(f"listening on http://{options.host}:{server.server_port}", flush=True)
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
        server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
