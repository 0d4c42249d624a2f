from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.kept import KEPT_HEADER_CHARS, digest, exchange, observation_of
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut, Value
from workers.wire.result import KEPT_BODY_CHARS, Exchange

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def answered(body: bytes, *, headers: tuple[tuple[str, str], ...] = (), status: int = 200) -> Answered:
    return Answered(status=status, headers=headers, body=body, elapsed_ms=1.5, reply=Value(msgspec.json.decode(body)))


def survives(observation: Observation) -> Observation | None:
    """What is left of *observation* after the wire."""
    sent = msgspec.json.encode(exchange("attack", observation, "0" * 16))
    return observation_of(msgspec.json.decode(sent, type=Exchange))


@given(JSON)
def test_a_short_answer_is_read_again_as_it_was(value: object) -> None:
    """Status, headers, body and reading of an answer come back the same."""
    observation = answered(msgspec.json.encode(value), headers=(("X-Note", "tea"),), status=201)

    assert survives(observation) == observation


@pytest.mark.parametrize(
    "observation",
    [
        Broke(reason="connection reset", elapsed_ms=2.0),
        TimedOut(elapsed_ms=1000.0, deadline_ms=1000.0),
        Answered(status=403, headers=(), body=b"no", elapsed_ms=1.0, reply=Refused("status 403")),
        Answered(status=500, headers=(), body=b"oh", elapsed_ms=1.0, reply=Failed("status 500")),
        Answered(status=200, headers=(), body=b"<p>", elapsed_ms=1.0, reply=Malformed("no JSON")),
    ],
    ids=lambda one: type(getattr(one, "reply", one)).__name__,
)
def test_every_ending_is_kept(observation: Observation) -> None:
    """A call that brought no value ends the same way when it is read again."""
    assert survives(observation) == observation


def test_a_reading_that_the_body_does_not_give_is_kept_beside_it() -> None:
    """Where the protocol wraps the answer, the adapter's reading comes back, not the envelope."""
    observation = Answered(
        status=200, headers=(), body=b'data: {"result": 1}\n\n', elapsed_ms=1.0, reply=Value({"text": "tea"})
    )

    assert survives(observation) == observation


@pytest.mark.parametrize(
    "observation",
    [
        answered(msgspec.json.encode("x" * KEPT_BODY_CHARS)),
        answered(b"1", headers=(("X-Long", "x" * KEPT_HEADER_CHARS),)),
        Answered(status=200, headers=(), body=b"ok", elapsed_ms=1.0, reply=Value({"text": "x" * KEPT_BODY_CHARS})),
    ],
    ids=["body", "headers", "value"],
)
def test_what_is_cut_is_not_read_again(observation: Observation) -> None:
    """Of an answer too long to be kept whole nothing is claimed."""
    kept = exchange("attack", observation)

    assert kept.cut
    assert observation_of(kept) is None
    assert len(kept.body) <= KEPT_BODY_CHARS
    assert len(kept.value) <= KEPT_BODY_CHARS


def test_what_an_earlier_engine_kept_is_not_read_again() -> None:
    """A record that does not say how the call ended is no evidence."""
    assert observation_of(Exchange(step="attack", status=200, body="{}", elapsed_ms=1.0)) is None


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.text(max_size=5))
def test_a_digest_names_caller_and_inputs(inputs: dict[str, object], caller: str) -> None:
    """The same call has the same digest whatever the order of its members; another caller's call another."""
    backwards = dict(reversed(inputs.items()))

    assert digest(inputs, caller) == digest(backwards, caller)
    assert digest(inputs, caller) != digest(inputs, caller + "x")
