from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.catalog.skill import Rejection, Skill


@pytest.fixture
def assistant(manifest: dict[str, Any]) -> dict[str, Any]:
    return {
        **manifest,
        "model": "helper-1",
        "test_endpoint": "https://skills.example.com/v1/chat/completions",
        "inputs": [{"name": "question", "type": "string", "description": "what to answer"}],
        "outputs": [{"name": "reply", "type": "string", "description": "the answer"}],
        "test_cases": [
            {"name": "bare", "input": {"question": "2 + 2?"}, "expected": "4"},
            {"name": "named", "input": {"question": "2 + 2?"}, "expected": {"reply": "4"}},
            {"name": "other", "input": {"question": "2 + 2?"}, "expected": {"reply": "4", "sure": True}},
        ],
    }


@pytest.mark.parametrize(
    "change",
    [{}, {"test_endpoint": "https://a.example/v1", "protocol": "chat"},
     {"test_endpoint": "https://a.example/v1", "platform": "chat"},
     {"test_endpoint": "https://a.example/v1/chat/completions/?v=2"}],
)  # fmt: skip
def test_an_assistant_is_talked_to(
    skill_of: Callable[[Any], Skill], assistant: dict[str, Any], change: dict[str, Any]
) -> None:
    """Its path says so, or the manifest does; one text is the answer, and what test cases expect is that text."""
    skill = skill_of({**assistant, **change})

    assert skill.access is not None
    assert (skill.access.adapter, skill.access.options) == ("chat", {"model": "helper-1"})
    assert skill.output_schema == {"type": "string"}
    assert [case.expected for case in skill.test_cases] == ["4", "4", {"reply": "4", "sure": True}]


def test_an_ordinary_endpoint_stays_one(skill_of: Callable[[Any], Skill], manifest: dict[str, Any]) -> None:
    """A platform is a label, and a protocol of another meaning is not ours."""
    skill = skill_of({**manifest, "platform": "OpenAI", "protocol": "https"})

    assert skill.access is not None
    assert (skill.access.adapter, skill.access.options) == ("http", {"body": "inputs"})


@pytest.mark.parametrize(
    "outputs",
    [[{"name": "sum", "type": "integer"}], [{"name": "a", "type": "string"}, {"name": "b", "type": "string"}]],
)
def test_other_outputs_are_read_out_of_the_text(
    skill_of: Callable[[Any], Skill], assistant: dict[str, Any], outputs: list[dict[str, Any]]
) -> None:
    """What is more than a text must stand in it as JSON."""
    skill = skill_of({**assistant, "outputs": outputs})

    assert skill.access is not None
    assert skill.access.options == {"model": "helper-1", "answer": "json"}
    assert skill.output_schema is not None
    assert skill.output_schema["required"] == [one["name"] for one in outputs]


def test_the_token_goes_along_by_reference(skill_of: Callable[[Any], Skill], assistant: dict[str, Any]) -> None:
    """Basic authentication names its user, and refers to the password."""
    auth = {"type": "basic", "token": "env:HELPER_PASSWORD", "username": "ada"}

    skill = skill_of({**assistant, "auth": auth})

    assert skill.access is not None
    assert skill.access.options["auth"] == auth


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"model": None}, "/0/model"),
        ({"model": 7}, "/0/model"),
        ({"auth": {"type": "basic", "token": "env:A"}}, "/0/auth/username"),
        ({"auth": {"type": "basic", "token": "env:A", "username": "a:b"}}, "/0/auth/username"),
        ({"auth": {"type": "basic", "token": "hunter22", "username": "a"}}, "/0/auth/token"),
        ({"auth": {"type": "oauth2", "token": "env:A"}}, "/0/auth/type"),
    ],
)
def test_what_is_missing_is_told(
    rejection_of: Callable[[Any], Rejection], assistant: dict[str, Any], change: dict[str, Any], pointer: str
) -> None:
    """A chat needs a model's name; a secret stands in no manifest."""
    rejection = rejection_of({**assistant, **change})

    assert rejection.pointer == pointer
    assert "hunter22" not in str(rejection)
