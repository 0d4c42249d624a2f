"""Makers of skills for the planners' tests."""

from __future__ import annotations

from typing import Any

from coordinator.catalog.example import example
from coordinator.catalog.parameters import object_schema
from coordinator.catalog.skill import Parameter, Skill
from workers.wire.skill import Access


def skill(*inputs: Parameter, **changes: Any) -> Skill:
    """A skill over HTTP with these declared *inputs*."""
    made: dict[str, Any] = {
        "id": "tool",
        "name": "Tool",
        "version": "1.0.0",
        "digest": "sha256:0",
        "format": "sxm",
        "source": "x.json",
        "inputs": inputs,
        "input_schema": object_schema(inputs),
        "example": example(inputs),
        "access": Access(adapter="http", endpoint="http://127.0.0.1:1/"),
    }
    return Skill(**{**made, **changes})


def text(name: str = "text", **schema: Any) -> Parameter:
    """A required text."""
    return Parameter(name=name, schema={"type": "string", **schema}, example="some words")


def whole(name: str = "count", example: int = 5, **schema: Any) -> Parameter:
    """A required whole number."""
    return Parameter(name=name, schema={"type": "integer", **schema}, example=example)
