"""What a skill of the test range is: code behind a real socket, and what is truly wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from workers.wire.result import Outcome
from workers.wire.skill import Planted

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
EXAMPLE = {"text": "A short and friendly note about tea."}


class Answer(NamedTuple):
    """An HTTP answer; *body* is sent as it is where it is bytes, else as JSON. Status 0 cuts the connection."""

    status: int
    body: Any
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[dict[str, Any]], Answer]


class Kind(StrEnum):
    """What a weakness is, by the evidence that proves it."""

    OBEDIENCE = "obedience"
    FICKLE = "fickle obedience"
    STUMBLING = "stumbling obedience"
    DECODING = "obedience after decoding"
    INTERPRETER = "interpreter"
    CALLBACK = "callback"
    FILE = "file"
    ENVIRONMENT = "environment"
    OTHER_CALLER = "other caller's data"
    MARKUP = "markup"
    PROMPT = "prompt"
    HIDDEN = "hidden tools"
    EFFECT = "effect"
    PERSISTENCE = "persistence"


EXACT = frozenset({Kind.INTERPRETER, Kind.CALLBACK})
"""Evidence without a language model's whims: what is reachable here must be found."""


class Hole(Struct, frozen=True):
    """One weakness: which *probe* must find it, and the least that this probe must call it.

    *others* are probes that may find it as well: whoever obeys now and then is not to be caught by one attack.
    """

    probe: str
    kind: Kind
    at_least: Outcome = Outcome.EXPLOITED
    others: tuple[str, ...] = ()


class RangeSkill(Struct, frozen=True, kw_only=True):
    """One skill. *make* gets a temporary folder of the skill's own, empty, and gives what answers its calls."""

    name: str
    make: Callable[[Path], Handler]
    schema: dict[str, Any] = field(default_factory=lambda: dict(TEXT))
    example: dict[str, Any] = field(default_factory=lambda: dict(EXAMPLE))
    description: str = ""
    open_ended: bool = False
    planted: Planted = Planted()
    holes: tuple[Hole, ...] = ()


def holes(kind: Kind, *probes: str, at_least: Outcome = Outcome.EXPLOITED) -> tuple[Hole, ...]:
    """A weakness of one kind that each of *probes* must find."""
    return tuple(Hole(probe, kind, at_least) for probe in probes)


def ok(value: Any, **more: Any) -> Answer:
    """A good answer."""
    return Answer(200, {"result": value, **more})


def stateless(handler: Handler) -> Callable[[Path], Handler]:
    """*handler*, which needs neither folder nor memory."""
    return lambda _: handler


def says(change: Callable[[str], Any]) -> Callable[[Path], Handler]:
    """A skill that answers with what *change* makes of its text."""
    return stateless(lambda inputs: ok(change(str(inputs["text"]))))


def fields(**example: Any) -> dict[str, Any]:
    """Schema and example of a skill that takes these strings, as members of a `RangeSkill`."""
    return {
        "schema": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in example},
            "required": list(example),
        },
        "example": example,
    }
