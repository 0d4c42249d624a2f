"""What is volatile: clock readings, durations and request numbers. They differ in any two answers and mean nothing.

Known by their shape, or by the last word of their name; a counter or a shuffled list is left to whoever asks twice.
"""

from __future__ import annotations

import re
from typing import Any

MAX_DEPTH = 32
VOLATILE = "\u241e"

_CLOCK = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?|\d\d:\d\d:\d\d(?:\.\d{1,9})?"
)
_NUMBER = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|\b[0-9a-f]{16,64}\b|\b[0-9A-F]{16,64}\b"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TIMES = frozenset(
    {
        *("ms", "us", "ns", "millis", "seconds", "secs", "time", "timestamp", "took", "elapsed", "duration", "latency"),
        *("uptime", "now", "at"),
    }
)
_REQUESTS = frozenset({"request", "req", "trace", "correlation", "transaction", "span"})
# Seconds, milliseconds, microseconds or nanoseconds since 1970, in the years 2017 to 2096.
_EPOCHS = tuple((1.5e9 * unit, 4e9 * unit) for unit in (1, 1e3, 1e6, 1e9))


def steady(document: Any) -> Any:
    """*document* with all that is volatile replaced by one sign; deeper than `MAX_DEPTH` nothing is kept."""
    return _steady(document, "", 0)


def _steady(value: Any, name: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return VOLATILE
    if isinstance(value, dict):
        return {key: _steady(inner, str(key)[:80], depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_steady(inner, name, depth + 1) for inner in value]
    if isinstance(value, str):
        return VOLATILE if _names_a_request(name) else _NUMBER.sub(VOLATILE, _CLOCK.sub(VOLATILE, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    is_volatile = _names_a_time(name) or _names_a_request(name) or any(low < value < high for low, high in _EPOCHS)
    return VOLATILE if is_volatile else value


def _names_a_time(name: str) -> bool:
    words = _WORD.findall(name)
    return bool(words) and words[-1].lower() in _TIMES


def _names_a_request(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return len(words) > 1 and words[-1] == "id" and words[-2] in _REQUESTS
