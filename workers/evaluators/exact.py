"""``exact``: the answer is the expected value, or it is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.evaluators._compared import better, shown
from workers.evaluators._equal import equal, same_text
from workers.evaluators._evaluator import Evaluate, Score, check_shape, switch
from workers.faults import BadExpectation

ALIASES = ("exact_match",)


def prepare(expected: Mapping[str, Any], options: Mapping[str, Any]) -> Evaluate:
    """Compare with ``expected["value"]``: 1 if equal, else 0.

    ``coerce`` (default: on where the value is a string) lets a scalar match by its text too: "2" matches 2.

    Raises:
        BadExpectation: If no value is given, or an option is unknown.
    """
    check_shape(("exact", *ALIASES), expected, options, "coerce")
    if "value" not in expected:
        raise BadExpectation("/expected/value", "the value to compare with", "nothing")
    wanted = expected["value"]
    coerce = switch("coerce", expected, options, default=isinstance(wanted, str))

    def score(value: Any) -> Score:
        if equal(value, wanted):
            return Score(1.0, f"expected and found {shown(wanted)}")
        if coerce and same_text(value, wanted):
            return Score(1.0, f"expected {shown(wanted)}, found {shown(value)}, the same by its text")
        return Score(0.0, f"expected {shown(wanted)}, found {shown(value)}")

    return lambda reply: better(reply, score)
