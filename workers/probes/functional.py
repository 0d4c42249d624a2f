"""Does the skill do what it says: one call, the declared outputs, then what the task expects."""

from __future__ import annotations

from workers.evaluators._evaluator import Score
from workers.evaluators._prepared import prepared
from workers.evaluators._schemas import compiled
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut, Value
from workers.session import Session
from workers.wire.job import FunctionalJob
from workers.wire.result import EVIDENCE_CHARS, KEPT_BODY_CHARS, Exchange, Outcome, Verdict


async def judge(job: FunctionalJob, session: Session) -> Verdict:
    """Run one functional task.

    The expectation and the output schema are prepared first: a mistake in them must not cost the skill a request.

    Raises:
        FleetFault: If our own side failed.
        BadJob: If the expectation or the declared output schema cannot be used (`BadExpectation`), or the call cannot
            be made.
    """
    evaluate = prepared(job.expectation) if job.expectation is not None else None
    declared = session.skill.output_schema
    outputs = compiled(declared, "/output_schema") if declared is not None else None
    observation = await session.call(job.input, timeout_ms=job.timeout_ms)
    if not isinstance(observation, Answered) or not isinstance(observation.reply, Value):
        return _unanswered(observation)
    value = observation.reply.value
    violation = outputs.violation(value) if outputs is not None else None
    if violation is not None:
        return _verdict(observation, Outcome.FAIL, 0.0, f"not what the manifest declares: {violation}")
    score = Score(1.0, "the declared outputs hold") if evaluate is None else evaluate(value)
    return _verdict(observation, _outcome(score.value), score.value, score.evidence)


def _outcome(score: float) -> Outcome:
    if score >= 1.0:
        return Outcome.PASS
    return Outcome.PARTIAL if score > 0.0 else Outcome.FAIL


def _unanswered(observation: Observation) -> Verdict:
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
    exchanges: tuple[Exchange, ...] = ()
    requests = 1
    if isinstance(observation, Answered):
        body = observation.body[: 4 * KEPT_BODY_CHARS].decode(errors="replace")[:KEPT_BODY_CHARS]
        exchanges = (
            Exchange(step="call", status=observation.status, body=body, elapsed_ms=round(observation.elapsed_ms, 3)),
        )
        if observation.waited_ms:
            requests = 2
            evidence += f" (on the second call, {observation.waited_ms:.0f} ms after its first answer, 429)"
    return Verdict(
        outcome=outcome,
        score=score,
        evidence=evidence[:EVIDENCE_CHARS],
        requests=requests,
        exchanges=exchanges,
    )
