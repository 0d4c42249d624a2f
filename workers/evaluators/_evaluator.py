"""What every evaluator offers; each module beside this one has ``prepare(expected, options) -> Evaluate``.

``prepare`` checks the expectation completely and raises `BadExpectation`; the callable that it returns never raises on
any JSON value, however odd: by then only the skill can be wrong. An evaluator that has to ask somebody else returns an
`Ask` instead, which raises `FleetFault` where that fails, and `BadJob` where it is not set up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from workers.faults import BadExpectation


class Score(Struct, frozen=True):
    """How well an answer meets an expectation, 0..1, and why, for people."""

    value: float
    evidence: str


Evaluate = Callable[[Any], Score]
Ask = Callable[[Any], Awaitable[Score]]


def check_shape(names: tuple[str, ...], expected: Mapping[str, Any], options: Mapping[str, Any], *allowed: str) -> None:
    """Refuse an expectation written for another evaluator than *names*, and options other than *allowed*."""
    kind = expected.get("type", names[0])
    if kind not in names:
        raise BadExpectation("/expected/type", " or ".join(map(repr, names)), repr(kind))
    for option in options:
        if option not in allowed:
            known = f"no option but {', '.join(allowed)}" if allowed else "no options"
            raise BadExpectation(f"/options/{escaped(option)}", known, repr(option))


def switch(name: str, expected: Mapping[str, Any], options: Mapping[str, Any], *, default: bool) -> bool:
    """The boolean option *name*, wherever it stands: in *options*, else beside what is expected."""
    for pointer, place in (("/options", options), ("/expected", expected)):
        if name in place:
            value = place[name]
            if not isinstance(value, bool):
                raise BadExpectation(f"{pointer}/{name}", "true or false", repr(value)[:80])
            return value
    return default


def texts(name: str, expected: Mapping[str, Any], *, most: int, longest: int) -> tuple[str, ...]:
    """The non-empty list of non-empty texts called *name*: at most *most*, of at most *longest* characters each."""
    found = expected.get(name)
    if not isinstance(found, list) or not found:
        what = "an empty list" if found == [] else "nothing" if found is None else repr(found)[:80]
        raise BadExpectation(f"/expected/{name}", "a list with at least one text", what)
    if len(found) > most:
        raise BadExpectation(f"/expected/{name}", f"at most {most} texts", str(len(found)))
    for index, text in enumerate(found):
        if not isinstance(text, str) or not text:
            raise BadExpectation(f"/expected/{name}/{index}", "a text that is not empty", repr(text)[:80])
        if len(text) > longest:
            raise BadExpectation(f"/expected/{name}/{index}", f"at most {longest} characters", str(len(text)))
    return tuple(found)


def escaped(token: str) -> str:
    """*token* as one reference token of a JSON pointer. Source: RFC 6901."""
    return token.replace("~", "~0").replace("/", "~1")
