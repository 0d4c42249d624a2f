"""Observations kept with a result, and made again from what was kept.

A later detector reads a kept answer exactly as it would have read the answer itself, or not at all: what is cut says so
(`Exchange.cut`). What was sent is kept as a digest only; attack texts are derived again from the job's id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import msgspec

from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, Reply, TimedOut, Value
from workers.wire.result import KEPT_BODY_CHARS, Ending, Exchange

KEPT_HEADER_CHARS = 4_096
KEPT_REASON_CHARS = 200

_REASONED: dict[Ending, type[Refused] | type[Failed] | type[Malformed]] = {
    Ending.REFUSED: Refused,
    Ending.FAILED: Failed,
    Ending.MALFORMED: Malformed,
}


def exchange(step: str, observation: Observation, sent: str = "") -> Exchange:
    """What is kept of *observation*; *sent* is `digest` of the inputs that it answers."""
    match observation:
        case TimedOut(elapsed_ms=elapsed_ms, deadline_ms=deadline_ms):
            return Exchange(
                step=step,
                status=0,
                body="",
                elapsed_ms=elapsed_ms,
                sent=sent,
                ending=Ending.TIMED_OUT,
                reason=f"{deadline_ms:.0f}",
            )
        case Broke(reason=reason, elapsed_ms=elapsed_ms):
            return Exchange(
                step=step,
                status=0,
                body="",
                elapsed_ms=elapsed_ms,
                sent=sent,
                ending=Ending.BROKE,
                reason=reason[:KEPT_REASON_CHARS],
            )
    text = observation.body[: 4 * KEPT_BODY_CHARS].decode("utf-8", "replace")
    reason = "" if isinstance(observation.reply, Value) else observation.reply.reason[:KEPT_REASON_CHARS]
    value = _value_apart(observation)
    headers = _headers(observation)
    return Exchange(
        step=step,
        status=observation.status,
        body=text[:KEPT_BODY_CHARS],
        elapsed_ms=observation.elapsed_ms,
        sent=sent,
        ending=Ending(type(observation.reply).__name__.lower()),
        reason=reason,
        headers=headers,
        value=value[:KEPT_BODY_CHARS],
        cut=max(len(text), len(value)) > KEPT_BODY_CHARS
        or len(observation.body) > 4 * KEPT_BODY_CHARS
        or len(headers) < len(observation.headers),
    )


def observation_of(exchange: Exchange) -> Observation | None:
    """The observation that was kept as *exchange*, or None where the record is of an earlier engine or cut."""
    if exchange.cut or exchange.ending is None:
        return None
    match exchange.ending:
        case Ending.TIMED_OUT:
            return TimedOut(elapsed_ms=exchange.elapsed_ms, deadline_ms=float(exchange.reason or 0))
        case Ending.BROKE:
            return Broke(reason=exchange.reason, elapsed_ms=exchange.elapsed_ms)
        case Ending.VALUE:
            try:
                reply: Reply = Value(msgspec.json.decode(exchange.value or exchange.body))
            except (msgspec.DecodeError, RecursionError):
                return None
        case _:
            reply = _REASONED[exchange.ending](exchange.reason)
    return Answered(
        status=exchange.status,
        headers=exchange.headers,
        body=exchange.body.encode("utf-8", "replace"),
        elapsed_ms=exchange.elapsed_ms,
        reply=reply,
    )


def digest(inputs: Mapping[str, Any], caller: str) -> str:
    """Names the call of *caller* with *inputs*, so that its answer is found again; 16 hexadecimal digits."""
    canonical = json.dumps([caller, inputs], sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _headers(answered: Answered) -> tuple[tuple[str, str], ...]:
    """The headers, as many as there is room for."""
    room = KEPT_HEADER_CHARS
    kept = []
    for name, value in answered.headers:
        room -= len(name) + len(value)
        if room < 0:
            break
        kept.append((name, value))
    return tuple(kept)


def _value_apart(answered: Answered) -> str:
    """The adapter's reading of the answer as JSON, where the body alone would not give it again; else nothing."""
    if not isinstance(answered.reply, Value):
        return ""
    try:
        if msgspec.json.decode(answered.body) == answered.reply.value:
            return ""
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.dumps(answered.reply.value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        return ""
