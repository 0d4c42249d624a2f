"""How a skill takes what no honest caller sends; found beside the attacks, and never called an exploit.

Evidence is a stack trace with the places of files, a 5xx or a connection that breaks twice, or that the next ordinary
call is not answered any more. A clean refusal is as good as an answer. It costs one request a case and one after them;
what replaces the body is sent only where the skill is called by a body.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from workers.adapters._adapter import TakesBody
from workers.attempt import trouble_of
from workers.fields import Leaf, leaves, place
from workers.kept import exchange
from workers.observation import Answered, Observation, Value
from workers.session import Session
from workers.stack_traces import stack_trace
from workers.wire.job import HygieneJob
from workers.wire.result import EVIDENCE_CHARS, Exchange, Outcome, Verdict

LONG_CHARS = 1_000_000
DEPTH = 2_000
AFTER_TRIES = 2


class Case(Struct, frozen=True, kw_only=True):
    """One unusual call: *inputs* or, where there is one, *body* in their place."""

    name: str
    inputs: Mapping[str, Any] = {}
    body: bytes | None = None


async def judge(job: HygieneJob, session: Session) -> Verdict:
    """Send every case that this skill can be sent.

    Raises:
        FleetFault: If our own side failed.
        BadJob: If the skill may not be called.
    """
    usual = await session.baseline()
    requests = session.bill_baseline()
    exchanges: list[Exchange] = []
    found: list[str] = []
    if not _answers(usual):
        return Verdict(outcome=Outcome.NOT_APPLICABLE, evidence="no valid call is answered", requests=requests)
    every = tuple(cases(session))
    for case in every:
        complaint = ""
        # Twice, so that a skill which fails now and then is not said to have failed because of this.
        for _ in range(2):
            observation = await _send(case, session, job.timeout_ms)
            requests += 1
            exchanges.append(exchange(case.name, observation))
            complaint = _complaint(observation, usual)
            if not complaint:
                break
        if complaint:
            found.append(f"{case.name}: {complaint}")
        if trouble_of(observation) or case is every[-1]:
            answered, calls = await _still_answers(session, job.timeout_ms)
            requests += calls
            if not answered:
                found.append(f"after {case.name}: the next ordinary call is not answered")
                break
    evidence = f"in {requests} requests: " + (
        "; ".join(found) if found else f"answered or refused cleanly: {', '.join(case.name for case in every)}"
    )
    return Verdict(
        outcome=Outcome.FAIL if found else Outcome.PASS,
        evidence=evidence[:EVIDENCE_CHARS],
        requests=requests,
        exchanges=tuple(exchanges),
    )


def cases(session: Session) -> Iterator[Case]:
    """What this skill can be sent."""
    skill = session.skill
    text = next((leaf for leaf in leaves(skill.input_schema, skill.example) if leaf.is_free_text), None)
    if text is not None:
        yield Case(name="a text of a million characters", inputs=_with(session, text, "tea " * (LONG_CHARS // 4)))
        yield Case(name="a NUL character", inputs=_with(session, text, "tea\x00tea"))
    if skill.example:
        yield Case(name="values of the wrong types", inputs={name: [{"tea": [None]}] for name in skill.example})
    if isinstance(session.adapter, TakesBody):
        whole = json.dumps(dict(skill.example), ensure_ascii=False).encode("utf-8", "replace")
        yield Case(name="malformed JSON", body=whole[:-1] + b',,"')
        yield Case(name="deep nesting", body=b'{"text":' * DEPTH + b"1" + b"}" * DEPTH)
        yield Case(name="invalid UTF-8", body=b'{"text": "\xff\xfe\xc3"}' if text is None else _invalid(session, text))


def _with(session: Session, leaf: Leaf, value: Any) -> Mapping[str, Any]:
    return place(session.skill.example, leaf.path, value, session.skill.input_schema)


def _invalid(session: Session, leaf: Leaf) -> bytes:
    """The example's body with bytes in the text that are no UTF-8."""
    mark = "\ue000"
    body = json.dumps(_with(session, leaf, mark), ensure_ascii=False).encode("utf-8", "replace")
    return body.replace(mark.encode(), b"tea \xff\xfe\xc3")


async def _send(case: Case, session: Session, timeout_ms: int) -> Observation:
    if case.body is not None:
        return await session.send(case.body, timeout_ms=timeout_ms)
    return await session.call(case.inputs, timeout_ms=timeout_ms)


async def _still_answers(session: Session, timeout_ms: int) -> tuple[bool, int]:
    """Whether an ordinary call is answered, and how many calls it took to know."""
    for tries in range(1, AFTER_TRIES + 1):
        if _answers(await session.call(session.skill.example, timeout_ms=timeout_ms)):
            return True, tries
    return False, AFTER_TRIES


def _complaint(observation: Observation, usual: Observation) -> str:
    trace = stack_trace(_text(observation))
    if trace is not None and trace not in _text(usual):
        return f"a stack trace ({trace})"
    if isinstance(observation, Answered):
        return f"status {observation.status}" if 500 <= observation.status < 600 else ""
    return trouble_of(observation)


def _answers(observation: Observation) -> bool:
    return isinstance(observation, Answered) and isinstance(observation.reply, Value)


def _text(observation: Observation) -> str:
    return observation.body.decode(errors="replace") if isinstance(observation, Answered) else ""
