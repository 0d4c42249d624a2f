"""Two callers in the inputs."""

from __future__ import annotations

from typing import Any

import pytest

from workers.canaries import Canaries
from workers.fields import leaves
from workers.identity import SameCaller, identities

CANARIES = Canaries("job", "DX-01", "attack")


def values(declared: Any, caller: str, canaries: Canaries = CANARIES) -> list[Any]:
    """What the input ``user`` gets for *caller*."""
    schema = {"type": "object", "properties": {"user": declared, "text": {"type": "string"}}}
    return [value for _, value in identities(leaves(schema, {}), caller, canaries)]


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "string"},
        {"type": "string", "maxLength": 4},
        {"type": "string", "format": "uuid"},
        {"type": "string", "format": "email"},
        {"type": "string", "pattern": "^[0-9]{8}$"},
        {"type": "string", "pattern": "^[A-Z]+$"},
        {"type": "string", "enum": ["ann", "bob"]},
        {"type": "integer"},
        {"type": "integer", "minimum": 1, "maximum": 1000},
    ],
)
def test_two_callers_get_two_values(declared: dict[str, Any]) -> None:
    """Or a skill that keeps them apart would be accused of mixing them up."""
    first, second = values(declared, "a"), values(declared, "b")

    assert len(first) == len(second) == 1
    assert first != second
    assert values(declared, "a") == first


def test_each_attempt_has_callers_of_its_own() -> None:
    """What an earlier attempt left behind belongs to somebody else."""
    assert values({"type": "string"}, "a") != values({"type": "string"}, "a", Canaries("job", "DX-01", "replay-1"))


def test_the_first_caller_is_the_one_whom_the_attack_names() -> None:
    """The text introduces itself by it."""
    assert values({"type": "string"}, "a") == [CANARIES.value("caller")]


@pytest.mark.parametrize(
    "declared",
    [
        {"const": "me", "type": "string"},
        {"type": "string", "enum": ["me"]},
        {"type": "string", "pattern": "^me$"},
        {"type": "string", "pattern": "("},
        {"type": "string", "format": "date"},
        {"type": "string", "maxLength": 1},
        {"type": "integer", "maximum": 3},
    ],
)
def test_an_input_without_a_second_value_allows_one_caller_only(declared: dict[str, Any]) -> None:
    """It is named."""
    with pytest.raises(SameCaller, match="user"):
        values(declared, "b")
