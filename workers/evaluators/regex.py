"""``regex``: how many of the patterns match somewhere in the answer. Linear time, on google-re2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import re2

from workers.evaluators._compared import better, shown, text_of
from workers.evaluators._evaluator import Evaluate, Score, check_shape, texts
from workers.faults import BadExpectation

PATTERNS = 100
PATTERN_CHARS = 2_000
PATTERN_BYTES = 1 << 20


def prepare(expected: Mapping[str, Any], options: Mapping[str, Any]) -> Evaluate:
    """Search for ``expected["patterns"]`` (RE2 syntax): matched / total.

    Raises:
        BadExpectation: If there are no patterns, or one is empty, invalid, or too large.
    """
    check_shape(("regex",), expected, options)
    patterns = texts("patterns", expected, most=PATTERNS, longest=PATTERN_CHARS)
    searches = [_compiled(pattern, index) for index, pattern in enumerate(patterns)]

    def score(value: Any) -> Score:
        text = text_of(value).encode(errors="replace")
        missing = [pattern for pattern, search in zip(patterns, searches, strict=True) if not search.search(text)]
        found = len(patterns) - len(missing)
        evidence = f"{found} of {len(patterns)} patterns matched"
        if missing:
            evidence += f"; not matched: {shown(missing)} in {shown(value)}"
        return Score(found / len(patterns), evidence)

    return lambda reply: better(reply, score)


def _compiled(pattern: str, index: int) -> Any:
    limits = re2.Options()
    limits.max_mem = PATTERN_BYTES
    limits.log_errors = False
    try:
        return re2.compile(pattern.encode(), limits)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise BadExpectation(
            f"/expected/patterns/{index}", "a pattern in RE2 syntax (no look-around, no back-references)", reason
        ) from error
