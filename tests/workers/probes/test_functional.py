"""The functional probe: one call, one verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from workers.adapters._adapter import HttpRequest
from workers.faults import BadExpectation, BadJob, FleetFault
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, Reply, TimedOut, Value
from workers.probes import functional
from workers.session import Session
from workers.wire.job import ExamineJob, Expectation, FunctionalJob
from workers.wire.result import EVIDENCE_CHARS, KEPT_BODY_CHARS, Outcome, Verdict
from workers.wire.skill import Access, SkillRef

OUTPUTS = {"type": "object", "properties": {"result": {"type": "number"}}, "required": ["result"]}
FIVE = Expectation(evaluator="exact", expected={"type": "exact", "value": 5})


class OneAnswer:
    """An adapter whose skill does the same thing at each call."""

    def __init__(self, observation: Observation | Exception) -> None:
        self.observation = observation
        self.calls: list[tuple[Mapping[str, Any], float]] = []

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = "main"
    ) -> Observation:
        self.calls.append((inputs, deadline_s))
        if isinstance(self.observation, Exception):
            raise self.observation
        return self.observation

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        raise BadJob("not over HTTP")

    async def aclose(self) -> None:
        pass


def answered(reply: Reply, body: bytes = b"{}", **more: Any) -> Answered:
    return Answered(status=200, headers=(), body=body, elapsed_ms=1.5, reply=reply, **more)


def judged(
    observation: Observation | Exception,
    expectation: Expectation | None = FIVE,
    output_schema: dict[str, Any] | None = None,
    *,
    guessed: bool = False,
) -> tuple[Verdict, OneAnswer]:
    adapter = OneAnswer(observation)
    skill = SkillRef(
        id="tool",
        name="Tool",
        version="1.0.0",
        digest="sha256:0",
        access=Access(adapter="http", endpoint="http://127.0.0.1/"),
        input_schema={},
        output_schema=output_schema,
        guessed=guessed,
    )
    job = FunctionalJob(id="j", probe="p", input={"a": 1}, expectation=expectation, timeout_ms=2_500)
    return asyncio.run(functional.judge(job, Session(skill, adapter))), adapter


@pytest.mark.parametrize(
    ("observation", "outcome"),
    [
        (answered(Value({"result": 5})), Outcome.PASS),
        (answered(Value({"result": 6})), Outcome.FAIL),
        (answered(Refused("HTTP 400: no")), Outcome.FAIL),
        (answered(Failed("HTTP 500: oops")), Outcome.ERROR),
        (answered(Malformed("no JSON")), Outcome.ERROR),
        (Broke(reason="connection refused", elapsed_ms=1.0), Outcome.ERROR),
        (TimedOut(elapsed_ms=2500.0, deadline_ms=2500.0), Outcome.TIMEOUT),
    ],
)
def test_each_observation_has_its_outcome(observation: Observation, outcome: Outcome) -> None:
    """What the skill did decides the outcome; only a pass scores."""
    verdict, _ = judged(observation)

    assert verdict.outcome == outcome
    assert verdict.score == (1.0 if outcome is Outcome.PASS else 0.0)
    assert verdict.requests == 1
    assert verdict.evidence.startswith("expected")


def test_part_of_the_keywords_is_a_partial_score() -> None:
    """A score between 0 and 1 is neither passed nor failed."""
    keywords = Expectation(evaluator="contains", expected={"keywords": ["a", "b"]})

    verdict, _ = judged(answered(Value("a")), keywords)

    assert (verdict.outcome, verdict.score) == (Outcome.PARTIAL, 0.5)


def test_the_task_is_called_once_with_its_input_and_its_time() -> None:
    """One request, the job's own deadline."""
    _, adapter = judged(answered(Value(5)))

    assert adapter.calls == [({"a": 1}, 2.5)]


def test_a_right_answer_that_breaks_the_declared_outputs_fails() -> None:
    """The manifest is checked first, and the evidence points at the breach."""
    verdict, _ = judged(answered(Value({"result": "5", "output": 5})), FIVE, OUTPUTS)

    assert (verdict.outcome, verdict.score) == (Outcome.FAIL, 0.0)
    assert verdict.evidence.startswith('not what the manifest declares: /result: "5" is not of type "number"')


def test_without_an_expectation_only_the_declared_outputs_are_checked() -> None:
    """The manifest's example has no expected answer."""
    right, _ = judged(answered(Value({"result": 1})), None, OUTPUTS)
    wrong, _ = judged(answered(Value({})), None, OUTPUTS)
    undeclared, _ = judged(answered(Value({})), None)

    assert [right.outcome, wrong.outcome, undeclared.outcome] == [Outcome.PASS, Outcome.FAIL, Outcome.PASS]


def test_an_example_of_ours_that_is_refused_is_no_evidence() -> None:
    """The skill may be right to refuse what nobody said is valid; the operator is told what is missing."""
    refusal = answered(Refused("the tool reports an error: Invalid time format"))

    with pytest.raises(BadJob, match=r"gives no example .*Invalid time format"):
        judged(refusal, None, guessed=True)


@pytest.mark.parametrize(
    ("observation", "expectation"),
    [
        (answered(Failed("HTTP 500: oops")), None),
        (TimedOut(elapsed_ms=1.0, deadline_ms=1.0), None),
        (answered(Refused("no")), FIVE),
        (msgspec.structs.replace(answered(Refused("HTTP 401: who are you?")), status=401), None),
        (msgspec.structs.replace(answered(Refused("HTTP 404: nothing here")), status=404), None),
    ],
)
def test_whatever_else_comes_to_an_example_of_ours_counts(
    observation: Observation, expectation: Expectation | None
) -> None:
    """A crash is none of the inputs', nor is a refusal of the caller or of the place; a task has inputs of its own."""
    verdict, _ = judged(observation, expectation, guessed=True)

    assert verdict.score == 0.0


def test_the_answer_is_kept_and_bounded() -> None:
    """A later evaluator can judge again; nothing grows without end."""
    verdict, _ = judged(answered(Value("x" * 100_000), body=b"\xff" + b"x" * 100_000))

    (exchange,) = verdict.exchanges
    assert (exchange.step, exchange.status, exchange.elapsed_ms) == ("call", 200, 1.5)
    assert exchange.body.startswith("\ufffdxxx")
    assert len(exchange.body) == KEPT_BODY_CHARS
    assert len(verdict.evidence) <= EVIDENCE_CHARS


def test_a_call_that_had_to_be_repeated_is_said() -> None:
    """A 429 that was waited out counts as a second request."""
    verdict, _ = judged(answered(Value(5), waited_ms=1_000.0))

    assert (verdict.outcome, verdict.requests) == (Outcome.PASS, 2)
    assert "1000 ms after" in verdict.evidence


@pytest.mark.parametrize(
    ("expectation", "schema"),
    [
        (Expectation(evaluator="contains", expected={"keywords": []}), None),
        (FIVE, {"type": "nonsense"}),
    ],
)
def test_what_cannot_be_judged_is_not_called(expectation: Expectation, schema: Any) -> None:
    """A faulty expectation or output schema is found before the skill is asked."""
    adapter = OneAnswer(FleetFault("called after all"))
    skill = SkillRef(
        id="tool",
        name="Tool",
        version="1.0.0",
        digest="sha256:0",
        access=Access(adapter="http", endpoint="http://127.0.0.1/"),
        input_schema={},
        output_schema=schema,
    )
    job = FunctionalJob(id="j", probe="p", input={}, expectation=expectation)

    with pytest.raises(BadExpectation):
        asyncio.run(functional.judge(job, Session(skill, adapter)))

    assert adapter.calls == []


def test_our_own_failure_is_no_verdict() -> None:
    """What is not the skill's doing goes up to whoever retries."""
    with pytest.raises(FleetFault):
        judged(FleetFault("no network"))


def test_a_manifest_is_examined_without_a_call() -> None:
    """The subject is held against the expectation, and the evidence speaks of the manifest."""
    version = Expectation(evaluator="regex", expected={"patterns": ["^1[.]"]})

    right, wrong = (
        asyncio.run(functional.examine(ExamineJob(id="j", probe="p", subject=subject, expectation=version)))
        for subject in ("1.0.0", "one")
    )

    assert [(one.outcome, one.score, one.requests) for one in (right, wrong)] == [
        (Outcome.PASS, 1.0, 0),
        (Outcome.FAIL, 0.0, 0),
    ]
    assert right.evidence == "the manifest: 1 of 1 patterns matched"
