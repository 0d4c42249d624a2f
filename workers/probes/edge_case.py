"""How a skill takes what is unusual: one call, then, where it should have been refused, a usual one.

What counts is the skill's own declaration. A refusal has to be clean: the protocol's own (HTTP 4xx), or an answer that
says in a member `error`, `errors` or `isError` that it is none. An answer has to hold the declared outputs. Whether the
content of either is any good is not asked here: the tasks do.

Where the manifest's own example is not answered, a refusal says nothing of the change that was made to it: the case is
not applicable then. (The example is a task of its own, and has lost its points there.)
"""

from __future__ import annotations

from typing import Any

from workers.evaluators._schemas import Schema, compiled
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut, Value
from workers.probes import functional
from workers.session import Session
from workers.stack_traces import stack_trace
from workers.wire.job import EdgeCaseJob, Wanted
from workers.wire.result import EVIDENCE_CHARS, Outcome, Verdict

ERROR_MEMBERS = ("error", "errors", "isError", "is_error")
LENIENT = 0.5
AFTER_TRIES = 2


async def judge(job: EdgeCaseJob, session: Session) -> Verdict:
    """Run one edge case.

    Raises:
        FleetFault: If our own side failed.
        BadJob: If the declared output schema cannot be used, or the call cannot be made.
    """
    declared = session.skill.output_schema
    outputs = compiled(declared, "/output_schema") if declared is not None else None
    before = session.baseline_requests
    usual = await session.baseline()
    observation = await _send(job, session)
    outcome, score, found = _judged(job, observation, outputs)
    if _is_refusal(observation) and not _answers(usual):
        outcome, score, found = Outcome.NOT_APPLICABLE, None, f"{found}; the manifest's example is not answered either"
    trace = stack_trace(_text(observation))
    if trace is not None and trace not in _text(usual):
        outcome, score, found = Outcome.FAIL, 0.0, f"a stack trace: {trace}"
    requests = session.baseline_requests - before + functional.requests_of(observation)
    if job.wanted is Wanted.REFUSED and _answers(usual):
        # Twice, so that a skill that fails now and then is not said to have been broken by this.
        for _ in range(AFTER_TRIES):
            after = await session.call(session.skill.example, timeout_ms=job.timeout_ms)
            requests += functional.requests_of(after)
            if _answers(after):
                break
        else:
            broken = "; the manifest's example, which was answered before, was not answered after it"
            outcome, score, found = Outcome.FAIL, 0.0, found + broken
    declares = f"; the manifest declares: {job.declared}" if job.declared else ""
    return Verdict(
        outcome=outcome,
        score=score,
        evidence=f"{job.about}: {_expected(job)}, found {found}{declares}"[:EVIDENCE_CHARS],
        requests=requests,
        exchanges=functional.exchanges_of("edge case", observation),
    )


async def _send(job: EdgeCaseJob, session: Session) -> Observation:
    if job.body is not None:
        return await session.send(job.body.encode(), timeout_ms=job.timeout_ms)
    return await session.call(job.input, timeout_ms=job.timeout_ms)


def _judged(job: EdgeCaseJob, observation: Observation, outputs: Schema | None) -> tuple[Outcome, float | None, str]:
    match observation:
        case TimedOut():
            return Outcome.TIMEOUT, 0.0, f"nothing within {observation.deadline_ms:.0f} ms"
        case Broke(reason=reason) | Answered(reply=Failed(reason=reason) | Malformed(reason=reason)):
            return Outcome.ERROR, 0.0, reason
        case Answered(reply=Refused(reason=reason)):
            return _refused(job, observation.status, reason)
        case Answered(reply=Value(value=value)):
            return _answered(job, value, outputs)
    raise AssertionError(f"no such observation: {type(observation).__name__}")


def _refused(job: EdgeCaseJob, status: int, reason: str) -> tuple[Outcome, float, str]:
    if job.wanted is Wanted.ANSWERED:
        return Outcome.FAIL, 0.0, f"a refusal: {reason}"
    if job.statuses and 400 <= status < 500 and status not in job.statuses:
        declared = " or ".join(map(str, job.statuses))
        return Outcome.PARTIAL, LENIENT, f"a refusal, but not with the declared {declared}: {reason}"
    return Outcome.PASS, 1.0, f"a refusal: {reason}"


def _answered(job: EdgeCaseJob, value: Any, outputs: Schema | None) -> tuple[Outcome, float, str]:
    error = next((name for name in ERROR_MEMBERS if isinstance(value, dict) and value.get(name)), None)
    violation = outputs.violation(value) if outputs is not None else None
    if error is not None and (outputs is None or violation is not None):
        if job.wanted is Wanted.ANSWERED:
            return Outcome.FAIL, 0.0, f"a refusal in its member {error!r}"
        return Outcome.PASS, 1.0, f"a refusal in its member {error!r}"
    if violation is not None:
        return Outcome.FAIL, 0.0, f"an answer without the declared outputs: {violation}"
    if job.wanted is Wanted.REFUSED:
        return Outcome.PARTIAL, LENIENT, "an answer, as if nothing were wrong with it"
    return Outcome.PASS, 1.0, "an answer with the declared outputs" if outputs is not None else "an answer"


def _expected(job: EdgeCaseJob) -> str:
    match job.wanted:
        case Wanted.ANSWERED:
            return "expected the declared outputs"
        case Wanted.REFUSED:
            return "expected a clean refusal"
        case Wanted.EITHER:
            return "expected the declared outputs or a clean refusal"


def _is_refusal(observation: Observation) -> bool:
    return isinstance(observation, Answered) and isinstance(observation.reply, Refused)


def _answers(observation: Observation) -> bool:
    return isinstance(observation, Answered) and isinstance(observation.reply, Value)


def _text(observation: Observation) -> str:
    return observation.body.decode(errors="replace") if isinstance(observation, Answered) else ""
