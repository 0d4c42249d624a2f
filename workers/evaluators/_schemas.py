"""JSON Schemas that others wrote, held against answers that others gave.

On jsonschema-rs: draft 2020-12 unless ``$schema`` says otherwise, nothing is fetched, patterns run in linear time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jsonschema_rs
import msgspec

from workers.evaluators import _branching
from workers.evaluators._evaluator import escaped
from workers.faults import BadExpectation

CACHED = 512
REGEX_BYTES = 1 << 20
CHECKS = 100_000_000  # about two seconds


class Schema:
    """A compiled schema."""

    def __init__(self, schema: Any, pointer: str) -> None:
        try:
            self._visits = _branching.visits(schema)
            self._validator = jsonschema_rs.validator_for(
                schema,
                offline=True,
                pattern_options=jsonschema_rs.RegexOptions(size_limit=REGEX_BYTES, dfa_size_limit=REGEX_BYTES),
            )
        except _branching.Tangled as error:
            raise BadExpectation(pointer, "a schema whose checks are bounded", str(error)) from error
        except jsonschema_rs.ValidationError as error:
            raise BadExpectation(
                pointer + _pointer(error.instance_path), "a valid JSON Schema", error.message[:300]
            ) from error
        except ValueError as error:
            raise BadExpectation(pointer, "a valid JSON Schema", str(error)[:300]) from error

    def violation(self, instance: Any) -> str | None:
        """Where and how *instance* breaks the schema first; None if it is valid."""
        depth, values = _extent(instance)
        visits = self._visits[min(depth, len(self._visits) - 1)]
        if visits * values > CHECKS:
            return f"too large to be checked: {values} values, nested {depth} deep"
        try:
            if self._validator.is_valid(instance):
                return None
            error = next(self._validator.iter_errors(instance), None)
        except ValueError as odd:  # deeper than the validator goes, or no JSON value at all
            return f"cannot be checked: {str(odd)[:200]}"
        if error is None:
            return None
        return f"{_pointer(error.instance_path) or 'the whole value'}: {error.message[:300]}"


def compiled(schema: Any, pointer: str) -> Schema:
    """The compiled *schema*, made once a process; *pointer* says where it stands, for the error.

    Raises:
        BadExpectation: If the schema is invalid, refers to something outside itself, or could check without end.
    """
    try:
        canonical = msgspec.json.encode(schema, order="deterministic")
    except (ValueError, RecursionError) as error:
        raise BadExpectation(pointer, "a JSON Schema", str(error)[:300]) from error
    return _compiled(canonical, pointer)


@lru_cache(maxsize=CACHED)
def _compiled(canonical: bytes, pointer: str) -> Schema:
    return Schema(msgspec.json.decode(canonical), pointer)


def _pointer(path: list[str | int]) -> str:
    return "".join(f"/{escaped(str(token))}" for token in path)


def _extent(instance: Any) -> tuple[int, int]:
    """How deep *instance* nests, and how many values it holds."""
    depth, values, level = 0, 1, [instance]
    while True:
        level = [
            child
            for value in level
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return depth, values
        depth, values = depth + 1, values + len(level)
