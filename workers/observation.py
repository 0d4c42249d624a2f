"""What a skill did when it was called.

An observation is always the skill's own doing; our failures are `workers.faults` and never observations.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Value(Struct, frozen=True, tag="value"):
    """The skill answered the call; *value* is the decoded JSON of the answer."""

    value: Any


class Refused(Struct, frozen=True, tag="refused"):
    """The skill understood the call and declined it: HTTP 4xx, or the protocol's own declared error."""

    reason: str


class Failed(Struct, frozen=True, tag="failed"):
    """The skill broke while answering: HTTP 5xx, or the protocol's internal error."""

    reason: str


class Malformed(Struct, frozen=True, tag="malformed"):
    """The skill claimed success with something that is not an answer."""

    reason: str


Reply = Value | Refused | Failed | Malformed


class Answered(Struct, frozen=True, kw_only=True, tag="answered"):
    """A complete response. *body* is the decompressed body, capped; *reply* is the adapter's reading of it.

    *waited_ms* is above 0 where the skill first asked to be called again later (429 with Retry-After) and was:
    *elapsed_ms* is then the second call's alone.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    elapsed_ms: float
    reply: Reply
    waited_ms: float = 0.0


class TimedOut(Struct, frozen=True, kw_only=True, tag="timed_out"):
    """No complete response before the deadline."""

    elapsed_ms: float
    deadline_ms: float


class Broke(Struct, frozen=True, kw_only=True, tag="broke"):
    """The connection was refused or cut, or what came over it broke the protocol or our limits."""

    reason: str
    elapsed_ms: float


Observation = Answered | TimedOut | Broke
