from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coordinator.catalog.index import entries
from coordinator.catalog.skill import Entry, Rejection, Skill


@pytest.fixture
def manifest() -> dict[str, Any]:
    return {
        "name": "Word counter",
        "version": "1.2.0",
        "description": "Counts the words of a text in any language.",
        "inputs": [
            {"name": "text", "type": "string", "description": "what to count", "example": "one two"},
            {"name": "limit", "type": "integer", "required": False, "schema": {"minimum": 1}},
        ],
        "outputs": [{"name": "words", "type": "integer", "description": "how many"}],
        "failure_modes": [{"condition": "empty text", "behaviour": "answers 0"}],
        "test_endpoint": "https://skills.example.com/count",
        "test_cases": [{"name": "two", "input": {"text": "one two"}, "expected": {"words": 2}}],
    }


@pytest.fixture
def plain_manifest() -> dict[str, Any]:
    return {
        "name": "Summary",
        "version": "0.1.0",
        "description": "Makes a long text short.",
        "inputs": ["text", "sentences (integer, optional)", "tone: how it should sound"],
        "outputs": ["summary", "some notes on what was left out"],
        "failure_modes": ["text too long", "no text -> answers with status 400"],
    }


@pytest.fixture
def eval_manifest() -> dict[str, Any]:
    return {
        "id": "adder",
        "name": "Adder",
        "version": "1.0.0",
        "description": "Adds two numbers and says the sum.",
        "tags": ["maths"],
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "number", "minimum": 10}, "b": {"$ref": "#/$defs/digit"}},
            "required": ["a", "b"],
            "$defs": {"digit": {"type": "integer", "maximum": 9, "minimum": 0}},
        },
        "outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}},
        "adapterType": "http",
        "entrypoint": "http://127.0.0.1:8000/add",
        "metadata": {"author": "Ada", "license": "MIT"},
    }


@pytest.fixture
def listed(tmp_path: Path) -> Callable[..., list[Entry]]:
    """The entries of a catalog with one list of the documents."""

    def read(*documents: Any) -> list[Entry]:
        path = tmp_path / "catalog.json"
        path.write_text(json.dumps(list(documents)))
        return list(entries(path))

    return read


@pytest.fixture
def skill_of(listed: Callable[..., list[Entry]]) -> Callable[[Any], Skill]:
    def read(document: Any) -> Skill:
        (entry,) = listed(document)
        assert isinstance(entry, Skill), str(entry)
        return entry

    return read


@pytest.fixture
def rejection_of(listed: Callable[..., list[Entry]]) -> Callable[[Any], Rejection]:
    def read(document: Any) -> Rejection:
        (entry,) = listed(document)
        assert isinstance(entry, Rejection), entry.id
        return entry

    return read
