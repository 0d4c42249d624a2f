"""Whether two answers say the same, apart from the request that they repeat, its number and the time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from workers.observation import Answered, Observation, Refused, Value
from workers.volatile import steady

MAX_BYTES = 65_536
MAX_LEAVES = 2_000
MIN_ECHO_CHARS = 3
ECHO = "\u241f"

_WORD = re.compile(r"[^\W\d_]{3,}")


def signature(observation: Observation, *sent: str) -> str | None:
    """What *observation* says, with each of *sent* taken out wherever it is repeated; None where it decides nothing."""
    if not isinstance(observation, Answered) or not isinstance(observation.reply, Value | Refused):
        return None
    return f"{observation.status} {_masked(_document(observation), sent)}"


class Features(Struct, frozen=True):
    """What an answer is made of: the *places* of its values (no indices), and the *words* in its texts."""

    places: frozenset[str]
    words: frozenset[str]


def features(observation: Observation, given: frozenset[str]) -> Features | None:
    """The features of *observation*, or None where it is no answer.

    *given* are the names and values that the call added, in lower case: what repeats them is left out, a place too.
    """
    if not isinstance(observation, Answered) or not isinstance(observation.reply, Value):
        return None
    places: set[str] = set()
    words: set[str] = set()
    for place, name, value in _leaves(observation.reply.value):
        if name.lower() in given or str(value).lower() in given:
            continue
        places.add(place)
        if isinstance(value, str):
            words.update(word for word in _WORD.findall(value[:MAX_BYTES].lower()) if word not in given)
    return Features(frozenset(places), frozenset(words))


def members(observation: Observation | None) -> frozenset[str] | None:
    """The names of the members of the object in *observation*; None where it is no object."""
    if not isinstance(observation, Answered) or not isinstance(observation.reply, Value):
        return None
    value = observation.reply.value
    return frozenset(value) if isinstance(value, dict) else None


def _document(answered: Answered) -> Any:
    if isinstance(answered.reply, Value):
        return answered.reply.value
    try:
        return msgspec.json.decode(answered.body[:MAX_BYTES])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return answered.body[:MAX_BYTES].decode("utf-8", "replace")


def _masked(document: Any, sent: Sequence[str]) -> str:
    try:
        text = json.dumps(steady(document), ensure_ascii=False, sort_keys=True)[:MAX_BYTES]
    except (TypeError, ValueError, RecursionError):
        return repr(type(document))
    for form in dict.fromkeys(form for one in sent for form in (one, one.lower(), one.upper())):
        if not form:
            continue
        # As JSON spells it; a short one only where it is a whole value, or it would be found in everything.
        spelt = json.dumps(form, ensure_ascii=False)
        text = text.replace(spelt, f'"{ECHO}"')
        if len(form) >= MIN_ECHO_CHARS:
            text = text.replace(spelt[1:-1], ECHO)
    return text


def _leaves(document: Any) -> Iterator[tuple[str, str, Any]]:
    """Each scalar with its place and the nearest name above it; an empty list or object counts as one."""
    waiting: list[tuple[str, str, Any]] = [("", "", document)]
    taken = 0
    while waiting and taken < MAX_LEAVES:
        place, name, value = waiting.pop()
        taken += 1
        if isinstance(value, dict) and value:
            waiting += [
                (f"{place}/{str(key)[:80]}"[:400], str(key), inner) for key, inner in list(value.items())[:MAX_LEAVES]
            ]
        elif isinstance(value, list) and value:
            waiting += [(place, name, inner) for inner in value[:MAX_LEAVES]]
        else:
            yield place, name, value
