"""What a peer gets wrong when it evaluates, measured on it; each is a promise of ours."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loader import BenchmarkError
from coordinator import policy
from coordinator.score import functional as functional_score
from coordinator.tally import Planned, tally
from coordinator.tasks import tasks_of
from tests.coordinator.evidence import judged
from tests.coordinator.test_tasks import benchmark, exact, skill
from tests.workers.probes.conftest import Server
from workers.adapters import http
from workers.evaluators._evaluator import Score
from workers.evaluators._prepared import prepared
from workers.probes import functional
from workers.session import Session
from workers.wire.job import Expectation, FunctionalJob, Pillar
from workers.wire.result import Outcome, Result, Verdict
from workers.wire.skill import Access, SkillRef


def scored(reply: Any, evaluator: str, expected: dict[str, Any], **options: Any) -> Score:
    found = prepared(Expectation(evaluator=evaluator, expected=expected, options=options))(reply)
    assert isinstance(found, Score)
    return found


@pytest.mark.parametrize(
    ("value", "reply", "same"),
    [
        ({"a": 1, "b": [2, {"c": None}]}, {"b": [2, {"c": None}], "a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, {}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ([{"a": 1}], [{"a": 2}], False),
    ],
)
def test_objects_are_compared_by_deep_equality(value: Any, reply: Any, same: bool) -> None:
    """Two objects are equal when all that is in them is; not because both are objects."""
    assert scored(reply, "exact", {"type": "exact", "value": value}).value == float(same)


def test_case_sensitivity_is_the_tasks_own() -> None:
    """`caseSensitive` counts for the task that says it, and for no other."""
    keywords = {"type": "contains", "keywords": ["Paris"]}

    assert scored("paris", "contains", keywords, caseSensitive=True).value == 0.0
    assert scored("Paris", "contains", keywords, caseSensitive=True).value == 1.0
    assert scored("paris", "contains", keywords, caseSensitive=False).value == 1.0


@pytest.mark.parametrize("keywords", [[], [""], ["Paris", ""], None, "Paris"])
def test_empty_keywords_are_refused(tmp_path: Path, keywords: Any) -> None:
    """They would stand in every answer."""
    task = {"evaluator": "contains", "expectedOutput": {"type": "contains", "keywords": keywords}}

    with pytest.raises(BenchmarkError, match="/tasks/0/expectedOutput/keywords"):
        tasks_of(skill(), [benchmark(tmp_path, task)])


def test_schemas_are_of_2020_12() -> None:
    """`prefixItems`, `dependentRequired` and `unevaluatedProperties` mean what they say there."""
    schema = {
        "type": "object",
        "properties": {"pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False}},
        "dependentRequired": {"pair": ["unit"]},
        "unevaluatedProperties": False,
        "allOf": [{"properties": {"unit": {"type": "string"}}}],
    }

    def valid(reply: Any) -> float:
        return scored(reply, "json_schema", {"type": "schema", "schema": schema}).value

    assert valid({"pair": ["a", 1], "unit": "m"}) == 1.0
    assert valid({"pair": [1, "a"], "unit": "m"}) == 0.0
    assert valid({"pair": ["a", 1, 2], "unit": "m"}) == 0.0
    assert valid({"pair": ["a", 1]}) == 0.0
    assert valid({"pair": ["a", 1], "unit": "m", "more": 1}) == 0.0


@pytest.mark.parametrize(
    ("task", "pointer"),
    [
        (
            {"evaluator": "schema", "expectedOutput": {"schema": {"type": "txet"}}},
            "/tasks/0/expectedOutput/schema/type",
        ),
        (
            {"evaluator": "schema", "expectedOutput": {"schema": {"$ref": "http://x.example/s"}}},
            "/tasks/0/expectedOutput/schema",
        ),
        ({"evaluator": "schema", "expectedOutput": {"schema": {"pattern": "("}}}, "/tasks/0/expectedOutput/schema"),
        ({"evaluator": "regex", "expectedOutput": {"patterns": ["[a-"]}}, "/tasks/0/expectedOutput/patterns/0"),
    ],
)
def test_a_faulty_schema_or_pattern_is_the_benchmarks_fault(tmp_path: Path, task: dict[str, Any], pointer: str) -> None:
    """It is refused when it is loaded, with its place; no skill is failed for it."""
    with pytest.raises(BenchmarkError) as caught:
        tasks_of(skill(), [benchmark(tmp_path, task)])

    assert caught.value.pointer.startswith(pointer)


def test_an_exponential_pattern_is_matched_in_linear_time() -> None:
    """A backtracking engine would try more ways than there are atoms; ours ends, on a text of sixteen thousand."""
    pattern = "^((a+)+)+((a|a)*)*((a?)+)+$"
    assert len(pattern) == 27

    found = scored("a" * 16_000 + "!", "regex", {"type": "regex", "patterns": [pattern]})

    assert found.value == 0.0


def test_twice_the_same_id_is_refused(tmp_path: Path) -> None:
    """One of the two tasks would vanish from the report."""
    with pytest.raises(BenchmarkError, match="/tasks/1/id: expected an id of its own"):
        benchmark(tmp_path, exact(1, id="same"), exact(2, id="same"))


def test_always_wrong_is_worth_nothing() -> None:
    """Neither one run nor ten, nor speed, nor the absence of errors makes a half of it."""
    for runs in (1, 10):
        planned = [Planned(job_id=f"{n}", pillar=Pillar.FUNCTIONAL, probe="t", group="bench") for n in range(runs)]
        results: dict[str, Result] = {one.job_id: judged(one, Outcome.FAIL, 0.0) for one in planned}

        assert functional_score(tally(planned, results).groups, policy.load()).value == 0.0


@pytest.mark.parametrize(
    ("value", "reply", "coerce", "told"),
    [
        ("25.0", 25.0, True, "the same by its text"),
        (25.0, "25.0", True, "the same by its text"),
        ("25.0", 25.0, False, None),
        (25.0, "25.0", False, None),
        ("25.0", "25.0", False, "expected and found"),
    ],
)
def test_a_number_and_its_text_are_the_same_where_the_benchmark_says_so(
    value: Any, reply: Any, coerce: bool, told: str | None
) -> None:
    """`coerce` decides, and the finding says by what the two are the same."""
    found = scored(reply, "exact", {"type": "exact", "value": value}, coerce=coerce)

    assert found.value == float(told is not None)
    assert (told or "expected") in found.evidence


Answer = Callable[[int], tuple[int, dict[str, str]]]


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[int]]]:
    """A skill that answers its n-th call as *answer* says; its address, and the statuses it gave."""
    given: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, headers = answer(len(given))
            given.append(status)
            body = json.dumps({"result": 5}).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", given
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def called(endpoint: str, *, timeout_ms: int) -> Verdict:
    ref = SkillRef(
        id="tool",
        name="Tool",
        version="1.0.0",
        digest="sha256:0",
        access=Access(adapter="http", endpoint=endpoint),
        input_schema={},
        allow_networks=("127.0.0.0/8",),
    )
    five = Expectation(evaluator="exact", expected={"type": "exact", "value": 5})

    async def run() -> Verdict:
        adapter = http.open()
        try:
            job = FunctionalJob(id="j", probe="p", input={}, expectation=five, timeout_ms=timeout_ms)
            return await functional.judge(job, Session(ref, adapter))
        finally:
            await adapter.aclose()

    return asyncio.run(run())


def test_too_many_requests_are_waited_out() -> None:
    """A skill that says 429 and when to come back is asked again, and judged by what it answers then."""
    with serving(lambda count: (429, {"Retry-After": "1"}) if count == 0 else (200, {})) as (endpoint, given):
        verdict = called(endpoint, timeout_ms=10_000)

    assert given == [429, 200]
    assert (verdict.outcome, verdict.requests) == (Outcome.PASS, 2)


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    """Come back in an hour is a refusal to a task that has ten seconds."""
    with serving(lambda count: (429, {"Retry-After": "3600"})) as (endpoint, given):
        verdict = called(endpoint, timeout_ms=10_000)

    assert given == [429]
    assert verdict.outcome is Outcome.FAIL
    assert "429" in verdict.evidence


def test_a_timeout_is_called_a_timeout() -> None:
    """Not an error, and not a failure: the report says that nothing came in time."""
    released = threading.Event()

    def late(count: int) -> tuple[int, dict[str, str]]:
        released.wait(60)
        return 200, {}

    with serving(late) as (endpoint, _):
        verdict = called(endpoint, timeout_ms=300)
        released.set()

    assert (verdict.outcome, verdict.score) == (Outcome.TIMEOUT, 0.0)
    assert "within 300 ms" in verdict.evidence
