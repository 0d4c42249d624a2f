from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from workers.adapters._adapter import MAIN_CALLER, HttpRequest, NoHttpRequest
from workers.faults import FleetFault
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, Reply, TimedOut, Value
from workers.probes.calls import flaw
from workers.probes.latency import judge_quiet, judge_sustained
from workers.probes.quiet import GIVE_UP_AFTER
from workers.session import Session
from workers.wire.job import QuietJob, SustainedJob
from workers.wire.result import Outcome, Verdict
from workers.wire.skill import Access, SkillRef

QUIET = QuietJob(id="q", probe="latency/quiet", requests=5, warmup=1, retakes=0, timeout_ms=2_000)
SUSTAINED = SustainedJob(id="s", probe="latency/sustained", rate_per_s=50, duration_s=0.2, max_in_flight=3)
SKILL = SkillRef(
    id="t", name="T", version="1", digest="d", access=Access(adapter="x", endpoint="stdio://t"), input_schema={}
)


def answered(reply: Reply, *, waited_ms: float = 0.0) -> Answered:
    return Answered(status=200, headers=(), body=b"", elapsed_ms=7.0, reply=reply, waited_ms=waited_ms)


class Program:
    """An adapter without HTTP, whose skill does *observations* in turn, the last one for ever."""

    def __init__(self, *observations: Observation | Exception) -> None:
        self._observations = observations
        self.calls = 0
        self.at_once = 0
        self._running = 0

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = MAIN_CALLER
    ) -> Observation:
        self._running += 1
        self.at_once = max(self.at_once, self._running)
        await asyncio.sleep(0)
        self._running -= 1
        found = self._observations[min(self.calls, len(self._observations) - 1)]
        self.calls += 1
        if isinstance(found, Exception):
            raise found
        return found

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        raise NoHttpRequest("a program has none")

    async def aclose(self) -> None: ...


def quiet(program: Program) -> Verdict:
    return asyncio.run(judge_quiet(QUIET, Session(SKILL, program)))


def sustained(program: Program) -> Verdict:
    return asyncio.run(judge_sustained(SUSTAINED, Session(SKILL, program)))


def test_a_call_without_http_is_timed_by_the_adapters_own_reading() -> None:
    """The series says whose clock that was, and how far it may be off."""
    program = Program(answered(Value(1)))

    verdict = quiet(program)

    assert verdict.outcome is Outcome.PASS
    assert verdict.requests == program.calls == 6
    assert verdict.series is not None
    assert verdict.series.samples_ms == (7.0,) * 5
    assert (verdict.series.clock, verdict.series.fallbacks) == ("monotonic", 0)
    assert verdict.series.uncertainty_ms >= 0.1


def test_what_is_no_success_is_no_sample() -> None:
    """Failures count, the warm-up does not."""
    program = Program(answered(Failed("x")), answered(Value(1)), answered(Failed("no")), answered(Value(1)))

    verdict = quiet(program)

    assert verdict.outcome is Outcome.PARTIAL
    assert verdict.series is not None
    assert (len(verdict.series.samples_ms), verdict.series.failures, verdict.series.timeouts) == (4, 1, 0)


def test_a_skill_that_hangs_is_not_asked_for_ever() -> None:
    """After some calls in vain the rest counts as timeouts."""
    program = Program(TimedOut(elapsed_ms=2_000, deadline_ms=2_000))

    verdict = quiet(program)

    assert verdict.outcome is Outcome.TIMEOUT
    assert program.calls == GIVE_UP_AFTER
    assert verdict.series is not None
    assert verdict.series.timeouts == 5


def test_a_load_is_sent_by_the_timetable() -> None:
    """No more at once than there may be; every request of the plan is accounted for."""
    program = Program(answered(Value(1)))

    verdict = sustained(program)

    assert program.calls == 10
    assert program.at_once <= 3
    assert verdict.series is not None
    assert len(verdict.series.samples_ms) == 10
    assert min(verdict.series.samples_ms) >= 7.0


def test_a_load_on_a_skill_that_holds_its_callers_times_out() -> None:
    """What could not be sent in time any more counts as a timeout too."""
    program = Program(TimedOut(elapsed_ms=60_000, deadline_ms=30_000))

    verdict = sustained(program)

    assert verdict.outcome is Outcome.TIMEOUT
    assert program.calls == 3
    assert verdict.series is not None
    assert verdict.series.timeouts == 10


@pytest.mark.parametrize("judge", [quiet, sustained])
def test_our_own_fault_ends_the_series(judge: Any) -> None:
    """It is no reading of the skill."""
    with pytest.raises(FleetFault):
        judge(Program(answered(Value(1)), FleetFault("no more file descriptors")))


@pytest.mark.parametrize(
    "observation",
    [
        answered(Refused("s3cr3t")),
        answered(Failed("s3cr3t")),
        answered(Malformed("s3cr3t")),
        answered(Value(1), waited_ms=50.0),
        Broke(reason="connection refused", elapsed_ms=1.0),
    ],
)
def test_a_flaw_is_told_without_quoting_the_skill(observation: Answered | Broke) -> None:
    """What it wrote may be anything."""
    assert flaw(observation)
    assert "s3cr3t" not in flaw(observation)
