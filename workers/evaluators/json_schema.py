"""``json_schema``: the answer is valid against a schema, or it is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.evaluators._compared import better
from workers.evaluators._evaluator import Evaluate, Score, check_shape
from workers.evaluators._schemas import compiled
from workers.faults import BadExpectation

ALIASES = ("schema",)


def prepare(expected: Mapping[str, Any], options: Mapping[str, Any]) -> Evaluate:
    """Validate against ``expected["schema"]``: 1 if valid, else 0.

    Raises:
        BadExpectation: If the schema is missing, invalid, or refers to something outside itself.
    """
    check_shape(("json_schema", *ALIASES), expected, options)
    if "schema" not in expected:
        raise BadExpectation("/expected/schema", "a JSON Schema", "nothing")
    schema = compiled(expected["schema"], "/expected/schema")

    def score(value: Any) -> Score:
        violation = schema.violation(value)
        return Score(1.0, "valid against the schema") if violation is None else Score(0.0, f"not valid: {violation}")

    return lambda reply: better(reply, score)
