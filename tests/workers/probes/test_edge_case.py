"""The edge-case probe: an unusual call, what came of it, and whether the skill still works."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import msgspec
import pytest

from tests.workers.probes.conftest import Server
from workers.adapters import http
from workers.adapters._adapter import HttpRequest
from workers.faults import BadJob
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, Reply, TimedOut, Value
from workers.probes import edge_case
from workers.session import Session
from workers.wire.job import EdgeCaseJob, Wanted
from workers.wire.result import Outcome, Verdict
from workers.wire.skill import Access, SkillRef

EXAMPLE = {"text": "usual"}
OUTPUTS = {"type": "object", "properties": {"result": {"type": "number"}}, "required": ["result"]}
SKILL = SkillRef(
    id="tool",
    name="Tool",
    version="1.0.0",
    digest="sha256:0",
    access=Access(adapter="http", endpoint="http://127.0.0.1:1/"),
    input_schema={},
    output_schema=OUTPUTS,
    example=EXAMPLE,
    timeout_ms=5_000,
    allow_networks=("127.0.0.0/8",),
)
UNUSUAL = {"text": {"not": "a text"}}


def answered(reply: Reply, body: bytes = b"{}", status: int = 200) -> Answered:
    return Answered(status=status, headers=(), body=body, elapsed_ms=1.0, reply=reply)


FINE = answered(Value({"result": 1}))
REFUSAL = answered(Refused("HTTP 400: no"), status=400)


class Scripted:
    """A skill that does one thing with the example, and another with everything else; *then* with the example later."""

    def __init__(self, unusual: Observation, usual: Observation = FINE, then: Observation | None = None) -> None:
        self.unusual, self.usual, self.then = unusual, usual, then
        self.asked: list[Mapping[str, Any]] = []

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = "main"
    ) -> Observation:
        self.asked.append(inputs)
        if inputs != EXAMPLE:
            return self.unusual
        return self.then if self.then is not None and UNUSUAL in self.asked else self.usual

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        raise BadJob("not over HTTP")

    async def aclose(self) -> None:
        pass


def judged(adapter: Scripted, wanted: Wanted = Wanted.REFUSED, **more: Any) -> Verdict:
    job = EdgeCaseJob(id="j", probe="edge_case/x", about="an object", wanted=wanted, input=UNUSUAL, **more)
    return asyncio.run(edge_case.judge(job, Session(SKILL, adapter)))


@pytest.mark.parametrize(
    ("observation", "wanted", "outcome", "score"),
    [
        (REFUSAL, Wanted.REFUSED, Outcome.PASS, 1.0),
        (REFUSAL, Wanted.EITHER, Outcome.PASS, 1.0),
        (REFUSAL, Wanted.ANSWERED, Outcome.FAIL, 0.0),
        (FINE, Wanted.ANSWERED, Outcome.PASS, 1.0),
        (FINE, Wanted.EITHER, Outcome.PASS, 1.0),
        (FINE, Wanted.REFUSED, Outcome.PARTIAL, 0.5),
        (answered(Value({"other": 1})), Wanted.EITHER, Outcome.FAIL, 0.0),
        (answered(Value({"error": "no text"})), Wanted.REFUSED, Outcome.PASS, 1.0),
        (answered(Value({"error": "no text"})), Wanted.ANSWERED, Outcome.FAIL, 0.0),
        (answered(Value({"error": None, "result": 1})), Wanted.ANSWERED, Outcome.PASS, 1.0),
        (answered(Failed("HTTP 500: oops"), status=500), Wanted.REFUSED, Outcome.ERROR, 0.0),
        (answered(Failed("HTTP 500: oops"), status=500), Wanted.EITHER, Outcome.ERROR, 0.0),
        (answered(Malformed("no JSON")), Wanted.EITHER, Outcome.ERROR, 0.0),
        (Broke(reason="reset", elapsed_ms=1.0), Wanted.REFUSED, Outcome.ERROR, 0.0),
        (TimedOut(elapsed_ms=10.0, deadline_ms=10.0), Wanted.REFUSED, Outcome.TIMEOUT, 0.0),
    ],
)
def test_each_reaction_has_its_outcome(
    observation: Observation, wanted: Wanted, outcome: Outcome, score: float
) -> None:
    """Refusing cleanly is met where a refusal is due; breaking or hanging never is."""
    verdict = judged(Scripted(observation), wanted)

    assert (verdict.outcome, verdict.score) == (outcome, score)
    assert verdict.evidence.startswith("an object: expected")


def test_a_wrong_call_is_followed_by_the_example() -> None:
    """Baseline, the unusual call, the example once more: three requests, and all are counted."""
    adapter = Scripted(REFUSAL)

    verdict = judged(adapter)

    assert adapter.asked == [EXAMPLE, UNUSUAL, EXAMPLE]
    assert verdict.requests == 3


def test_a_right_call_is_not() -> None:
    """Only what should be refused could have broken something."""
    adapter = Scripted(FINE)

    judged(adapter, Wanted.EITHER)

    assert adapter.asked == [EXAMPLE, UNUSUAL]


def test_a_skill_that_is_broken_by_a_wrong_call_has_failed() -> None:
    """The next valid call must still work, however politely the wrong one was refused."""
    verdict = judged(Scripted(REFUSAL, then=answered(Failed("HTTP 500"), status=500)))

    assert (verdict.outcome, verdict.score) == (Outcome.FAIL, 0.0)
    assert "was not answered after it" in verdict.evidence


def test_where_the_example_is_refused_too_a_refusal_says_nothing() -> None:
    """The case is not applicable; a crash still is one."""
    refusal = judged(Scripted(REFUSAL, usual=REFUSAL))
    due_answer = judged(Scripted(REFUSAL, usual=REFUSAL), Wanted.ANSWERED)
    crash = judged(Scripted(answered(Failed("HTTP 500"), status=500), usual=REFUSAL))

    assert (refusal.outcome, refusal.score) == (Outcome.NOT_APPLICABLE, None)
    assert due_answer.outcome is Outcome.NOT_APPLICABLE
    assert crash.outcome is Outcome.ERROR


TRACE = b'{"detail": "Traceback: File \\"/srv/app/main.py\\", line 7, in run"}'


def test_a_stack_trace_is_no_clean_refusal() -> None:
    """The right status does not make up for it; a trace that the usual answer has too is its content."""
    leaked = judged(Scripted(answered(Refused("HTTP 400"), TRACE, 400)))
    usual = judged(Scripted(answered(Refused("HTTP 400"), TRACE, 400), usual=answered(Value({"result": 1}), TRACE)))

    assert (leaked.outcome, leaked.score) == (Outcome.FAIL, 0.0)
    assert "main.py" in leaked.evidence
    assert usual.outcome is Outcome.PASS


def test_another_status_than_the_declared_one_loses_half() -> None:
    """The manifest names the status of its refusal; protocols without one are not measured by it."""
    named = judged(Scripted(REFUSAL), statuses=(422,), declared="x -> 422")
    kept = judged(Scripted(REFUSAL), statuses=(400, 422))
    other_protocol = judged(Scripted(answered(Refused("-32602"))), statuses=(422,))

    assert (named.outcome, named.score) == (Outcome.PARTIAL, 0.5)
    assert "the manifest declares: x -> 422" in named.evidence
    assert [kept.outcome, other_protocol.outcome] == [Outcome.PASS, Outcome.PASS]


def test_a_body_cannot_be_replaced_where_there_is_none() -> None:
    """The job is ours to plan better, never the skill's fault."""
    with pytest.raises(BadJob, match="no body"):
        judged(Scripted(REFUSAL), body="{")


@contextmanager
def serving(answer: Callable[[bytes], tuple[int, bytes]]) -> Iterator[SkillRef]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            status, body = answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        access = Access(adapter="http", endpoint=f"http://127.0.0.1:{server.server_port}/")
        yield msgspec.structs.replace(SKILL, access=access)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def strict(body: bytes) -> tuple[int, bytes]:
    try:
        json.loads(body)
    except ValueError:
        return 400, b'{"error": "no JSON"}'
    return 200, b'{"result": 1}'


def careless(body: bytes) -> tuple[int, bytes]:
    return (200, b'{"result": 1}') if body.endswith(b"}") else (500, b"oops")


@pytest.mark.parametrize(("skill", "outcome"), [(strict, Outcome.PASS), (careless, Outcome.ERROR)])
def test_half_a_body_goes_over_the_wire_as_it_is(skill: Callable[[bytes], tuple[int, bytes]], outcome: Outcome) -> None:
    """On a real socket: one refuses what is no JSON, the other breaks on it."""

    async def run(ref: SkillRef) -> Verdict:
        adapter = http.open()
        try:
            job = EdgeCaseJob(id="j", probe="p", about="half a body", wanted=Wanted.REFUSED, body='{"text": "ha')
            return await edge_case.judge(job, Session(ref, adapter))
        finally:
            await adapter.aclose()

    with serving(skill) as ref:
        verdict = asyncio.run(run(ref))

    assert verdict.outcome is outcome
    assert verdict.requests == 3
