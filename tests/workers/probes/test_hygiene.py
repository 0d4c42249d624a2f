"""What no honest caller sends, to real HTTP skills."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from workers.adapters import http
from workers.observation import Answered, Value
from workers.probes import hygiene
from workers.session import Session
from workers.wire.job import HygieneJob
from workers.wire.result import Outcome, Verdict
from workers.wire.skill import Access, SkillRef

Handle = Callable[[bytes], tuple[int, Any]]
TRACE = 'Traceback (most recent call last):\n  File "/srv/app/skill.py", line 7, in answer\nValueError: tea'


@pytest.fixture
def serve() -> Iterator[Callable[[Handle], SkillRef]]:
    """Serves a function from the raw body to status and answer; status 0 cuts the connection."""
    servers = []

    def start(handle: Handle) -> SkillRef:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_POST(self) -> None:
                status, answer = handle(self.rfile.read(int(self.headers["Content-Length"])))
                if status == 0:
                    self.close_connection = True
                    return
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        return skill(f"http://127.0.0.1:{server.server_port}/")

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


def skill(endpoint: str, adapter: str = "http") -> SkillRef:
    """A skill that takes one text."""
    return SkillRef(
        id="s",
        name="s",
        version="1.0.0",
        digest="sha256:0",
        access=Access(adapter=adapter, endpoint=endpoint),
        input_schema={"type": "object", "properties": {"text": {"type": "string"}}},
        example={"text": "A note."},
        timeout_ms=5_000,
        allow_networks=("127.0.0.0/8",),
    )


def judge(ref: SkillRef, adapter: Any = None) -> Verdict:
    """The verdict on *ref*."""

    async def run() -> Verdict:
        used = adapter or http.open()
        try:
            return await hygiene.judge(HygieneJob(id="h", probe="hygiene", timeout_ms=5_000), Session(ref, used))
        finally:
            await used.aclose()

    return asyncio.run(run())


def careful(body: bytes) -> tuple[int, Any]:
    """Takes a text and declines the rest."""
    try:
        inputs = json.loads(body)
        return (200, {"n": len(inputs["text"])}) if isinstance(inputs["text"], str) else (422, {"error": "no text"})
    except (ValueError, KeyError, TypeError, RecursionError):
        return 400, {"error": "bad request"}


def test_a_careful_skill_passes_in_few_requests(serve: Any) -> None:
    """Each case once, one ordinary call before and one after them."""
    seen: list[bytes] = []

    verdict = judge(serve(lambda body: (seen.append(body), careful(body))[1]))

    assert verdict.outcome is Outcome.PASS
    assert verdict.requests == len(seen) == 8
    assert verdict.score is None
    assert max(map(len, seen)) > 1_000_000
    assert sum(b"\xff" in body for body in seen) == 1
    assert sum(b"\\u0000" in body for body in seen) == 1


@pytest.mark.parametrize(
    ("careless", "found"),
    [
        (
            lambda body: (500, {"error": "oops"}) if len(body) > 1_000_000 else careful(body),
            "million characters: status 500",
        ),
        (lambda body: (400, {"error": TRACE}) if b"\xff" in body else careful(body), "invalid UTF-8: a stack trace"),
        (
            lambda body: (200, {"log": TRACE}) if b"None" in body or b"[null]" in body else careful(body),
            "/srv/app/skill.py",
        ),
        (lambda body: (0, None) if b"\\u0000" in body else careful(body), "a NUL character: broken off"),
    ],
)
def test_a_careless_skill_is_told_what_it_did(careless: Handle, found: str, serve: Any) -> None:
    """A 5xx, a trace with a place in a file, a cut connection; never an exploit."""
    verdict = judge(serve(careless))

    assert verdict.outcome is Outcome.FAIL
    assert found in verdict.evidence


def test_a_skill_that_is_dead_afterwards_is_found(serve: Any) -> None:
    """The next ordinary call shows it."""
    dead: list[bool] = []

    def handle(body: bytes) -> tuple[int, Any]:
        if len(body) > 1_000_000:
            dead.append(True)
        return (503, {}) if dead else careful(body)

    verdict = judge(serve(handle))

    assert verdict.outcome is Outcome.FAIL
    assert "the next ordinary call is not answered" in verdict.evidence


def test_a_single_failure_is_a_coincidence(serve: Any) -> None:
    """Sent again, it is answered."""
    failed: list[bool] = []

    def handle(body: bytes) -> tuple[int, Any]:
        if b"\\u0000" in body and not failed:
            failed.append(True)
            return 503, {}
        return careful(body)

    assert judge(serve(handle)).outcome is Outcome.PASS


def test_a_trace_that_every_answer_has_is_not_this_case_s_doing(serve: Any) -> None:
    """A skill may be about traces."""
    assert judge(serve(lambda _: (200, {"example": TRACE}))).outcome is Outcome.PASS


def test_a_skill_that_answers_nothing_is_not_judged(serve: Any) -> None:
    """There is nothing to compare with."""
    assert judge(serve(lambda _: (400, {}))).outcome is Outcome.NOT_APPLICABLE


def test_bodies_go_only_where_a_body_is_what_calls() -> None:
    """Another protocol gets the inputs alone."""
    calls: list[dict[str, Any]] = []

    class Plain:
        async def call(self, skill: SkillRef, inputs: dict[str, Any], **_: Any) -> Answered:
            calls.append(inputs)
            return Answered(status=200, headers=(), body=b"{}", elapsed_ms=1.0, reply=Value({}))

        async def aclose(self) -> None:
            pass

    verdict = judge(skill("", "plain"), Plain())

    assert verdict.outcome is Outcome.PASS
    assert "JSON" not in verdict.evidence
    assert "UTF-8" not in verdict.evidence
    assert len(calls) == 5
