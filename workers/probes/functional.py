"""Does the skill do what it says: one call, the declared outputs, then what the task expects.

And does it say enough of itself: an expectation held against its manifest, without a call.
"""

from __future__ import annotations

from workers.evaluators._evaluator import Score
from workers.evaluators._prepared import evaluated, prepared
from workers.evaluators._schemas import compiled
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut, Value
from workers.session import Session
from workers.wire.job import ExamineJob, FunctionalJob
from workers.wire.result import EVIDENCE_CHARS, KEPT_BODY_CHARS, Exchange, Outcome, Verdict


async def judge(job: FunctionalJob, session: Session) -> Verdict:
    """Run one functional task.

    The expectation and the output schema are prepared first: a mistake in them must not cost the skill a request.

    Raises:
        FleetFault: If our own side failed.
        BadJob: If the expectation or the declared output schema cannot be used (`BadExpectation`), the call cannot be
            made, or no valid one is known.
    """
    evaluate = prepared(job.expectation) if job.expectation is not None else None
    declared = session.skill.output_schema
    outputs = compiled(declared, "/output_schema") if declared is not None else None
    observation = await session.call(job.input, timeout_ms=job.timeout_ms)
    if job.expectation is None:  # the example
        session.check_refusal(observation)
    if not isinstance(observation, Answered) or not isinstance(observation.reply, Value):
        return unanswered(observation)
    value = observation.reply.value
    violation = outputs.violation(value) if outputs is not None else None
    if violation is not None:
        return _verdict(observation, Outcome.FAIL, 0.0, f"not what the manifest declares: {violation}")
    score = Score(1.0, "the declared outputs hold") if evaluate is None else await evaluated(evaluate, value)
    return _verdict(observation, _outcome(score.value), score.value, score.evidence)


async def examine(job: ExamineJob) -> Verdict:
    """Hold what a skill says of itself against an expectation.

    Raises:
        FleetFault: If our own side failed.
        BadJob: If the expectation cannot be used.
    """
    score = await evaluated(prepared(job.expectation), job.subject)
    # An evaluator speaks of replies; this is none.
    evidence = f"the manifest: {score.evidence.removesuffix(' (compared: the reply)')}"
    return Verdict(outcome=_outcome(score.value), score=score.value, evidence=evidence[:EVIDENCE_CHARS])


def exchanges_of(step: str, observation: Observation) -> tuple[Exchange, ...]:
    """What is kept of the call *step*: the answer, if there was one, cut at `KEPT_BODY_CHARS`."""
    if not isinstance(observation, Answered):
        return ()
    body = observation.body[: 4 * KEPT_BODY_CHARS].decode(errors="replace")[:KEPT_BODY_CHARS]
    return (Exchange(step=step, status=observation.status, body=body, elapsed_ms=round(observation.elapsed_ms, 3)),)


def requests_of(observation: Observation) -> int:
    """How many requests the call took: two where the first was asked to wait."""
    return 2 if isinstance(observation, Answered) and observation.waited_ms else 1


def _outcome(score: float) -> Outcome:
    if score >= 1.0:
        return Outcome.PASS
    return Outcome.PARTIAL if score > 0.0 else Outcome.FAIL


def unanswered(observation: Observation) -> Verdict:
    """The verdict on a call that brought no value."""
    match observation:
        case TimedOut():
            evidence = f"expected an answer within {observation.deadline_ms:.0f} ms, found none"
            return _verdict(observation, Outcome.TIMEOUT, 0.0, evidence)
        case Broke():
            return _verdict(observation, Outcome.ERROR, 0.0, f"expected an answer, found: {observation.reason}")
        case Answered(reply=Refused(reason=reason)):
            return _verdict(observation, Outcome.FAIL, 0.0, f"expected an answer, found a refusal: {reason}")
        case Answered(reply=Failed(reason=reason) | Malformed(reason=reason)):
            return _verdict(observation, Outcome.ERROR, 0.0, f"expected an answer, found: {reason}")
    raise AssertionError(f"an answer with a value was taken for none: {type(observation).__name__}")


def _verdict(observation: Observation, outcome: Outcome, score: float, evidence: str) -> Verdict:
    if isinstance(observation, Answered) and observation.waited_ms:
        evidence += f" (on the second call, {observation.waited_ms:.0f} ms after its first answer, 429)"
    return Verdict(
        outcome=outcome,
        score=score,
        evidence=evidence[:EVIDENCE_CHARS],
        requests=requests_of(observation),
        exchanges=exchanges_of("call", observation),
    )
