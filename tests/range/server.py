"""The range: every skill under a path of its own, on a real socket of loopback, in one process."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from tests.range.skill import Answer, Handler, RangeSkill
from workers.wire.skill import Access, SkillRef


class Range:
    """Serves *skills*; *calls* counts what each was asked, by its name."""

    def __init__(self, skills: Iterable[RangeSkill], folder: Path) -> None:
        self.calls: Counter[str] = Counter()
        self._handlers: dict[str, Handler] = {}
        self._names: dict[str, str] = {}
        for number, skill in enumerate(skills):
            own = folder / str(number)
            own.mkdir()
            self._handlers[f"/{number}"] = skill.make(own)
            self._names[skill.name] = f"/{number}"
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def ref(self, skill: RangeSkill) -> SkillRef:
        """How a job describes *skill*."""
        path = self._names[skill.name]
        return SkillRef(
            id=skill.name.replace(" ", "-"),
            name=skill.name,
            version="1.0.0",
            digest=f"sha256:{path}",
            access=Access(adapter="http", endpoint=f"http://127.0.0.1:{self._server.server_port}{path}"),
            input_schema=skill.schema,
            example=skill.example,
            description=skill.description,
            open_ended=skill.open_ended,
            planted=skill.planted,
            timeout_ms=10_000,
            allow_networks=("127.0.0.0/8",),
        )

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        served = self
        named = {path: name for name, path in self._names.items()}

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one segment

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                served.calls[named[self.path]] += 1
                answer = _answer(served._handlers[self.path], sent)
                if answer.status == 0:
                    self.close_connection = True
                    return
                body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _answer(handler: Handler, sent: bytes) -> Answer:
    """What *handler* makes of a body, as an ordinary web framework would guard it."""
    try:
        inputs: Any = json.loads(sent)
        if not isinstance(inputs, dict):
            return Answer(422, {"error": "expected an object"})
        return handler(inputs)
    except (ValueError, KeyError, RecursionError):
        return Answer(400, {"error": "bad request"})
    except Exception:
        return Answer(500, {"error": "internal error"})


class _Server(ThreadingHTTPServer):
    """A server that keeps quiet about the connections which its clients cut."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)
