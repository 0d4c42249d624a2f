"""Real HTTP skills on 127.0.0.1, called through the real adapter."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest

from payloads import loader
from workers.adapters import http
from workers.listener import Listener
from workers.probes import security
from workers.session import Session
from workers.wire.job import Attack, SecurityJob
from workers.wire.result import Verdict
from workers.wire.skill import Access, SkillRef

Answer = tuple[int, Any]
Skill = Callable[[dict[str, Any]], Answer]


class Server(ThreadingHTTPServer):
    """A server that keeps quiet about the connections which its clients cut."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Shelf:
    """The server: each skill under a path of its own."""

    def __init__(self) -> None:
        self.skills: dict[str, Skill] = {}
        self.calls: dict[str, list[dict[str, Any]]] = {}
        shelf = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one segment

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                shelf.calls[self.path].append(body)
                status, answer = shelf.skills[self.path](body)
                if status == 0:
                    self.close_connection = True
                    return
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def put(self, skill: Skill, **about: Any) -> SkillRef:
        """Serve *skill*, which cuts the connection with status 0; *about* are members of its `SkillRef`."""
        path = f"/{len(self.skills)}"
        self.skills[path] = skill
        self.calls[path] = []
        described: dict[str, Any] = {
            "id": f"skill{path[1:]}",
            "name": "skill",
            "version": "1.0.0",
            "digest": "sha256:" + "0" * 64,
            "access": Access(adapter="http", endpoint=f"http://127.0.0.1:{self._server.server_port}{path}"),
            "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
            "example": {"text": "A short and friendly note about tea."},
            "timeout_ms": 5_000,
            "allow_networks": ("127.0.0.0/8",),
        }
        return SkillRef(**{**described, **about})

    def seen(self, skill: SkillRef) -> list[dict[str, Any]]:
        """The inputs of every call of *skill*."""
        return self.calls["/" + skill.access.endpoint.rpartition("/")[2]]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    """An empty shelf of skills on a port of its own."""
    shelf = Shelf()
    yield shelf
    shelf.close()


def _in_a_hurry(attack: Attack) -> Attack:
    """*attack*, with a window for callbacks that suits skills which call at once."""
    options = {**attack.options, "grace_s": 0.05} if "grace_s" in attack.options else attack.options
    return msgspec.structs.replace(attack, options=options)


ATTACKS = {
    payload.id: _in_a_hurry(msgspec.convert(payload, Attack, from_attributes=True))
    for payload in loader.load().payloads
}

Probe = Callable[..., dict[str, Verdict]]


@pytest.fixture
def probe() -> Probe:
    """Runs the named probes (all of the corpus without a name) against one skill, one after the other."""
    return run_probes


def run_probes(
    skill: SkillRef, *names: str, job_id: str = "job", attacks: dict[str, Attack] = ATTACKS, listens: bool = True
) -> dict[str, Verdict]:
    """The verdicts of the attacks *names* on *skill*, all of one parcel; without a listener unless *listens*."""

    async def run() -> dict[str, Verdict]:
        adapter, listener = http.open(), Listener()
        try:
            session = Session(skill, adapter, listener if listens else None)
            found = {}
            for name in names or attacks:
                job = SecurityJob(id=f"{job_id}-{name}", probe=name, attack=attacks[name], timeout_ms=5_000)
                found[name] = await security.judge(job, session)
            return found
        finally:
            await listener.aclose()
            await adapter.aclose()

    return asyncio.run(run())
