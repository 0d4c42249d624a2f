from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.catalog.skill import Rejection, Skill

BEARER = {"type": "bearer", "token": "env:AGENT_TOKEN"}


@pytest.fixture
def card() -> dict[str, Any]:
    return {
        "name": "Trip Planner",
        "description": "Plans trips by train.",
        "version": "2.1.0",
        "provider": {"organization": "Trains & Co", "url": "https://trains.example.com"},
        "supportedInterfaces": [
            {"url": "https://agents.example.com/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
            {"url": "https://agents.example.com/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        ],
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [
            {
                "id": "routes",
                "name": "Routes",
                "description": "Finds connections.",
                "tags": ["trains", "routes"],
                "examples": ["From Porto to Faro", "From Lisbon to Madrid"],
            },
            {"id": "fares", "name": "Fares", "description": "Says what it costs.", "tags": ["trains"]},
        ],
    }


@pytest.fixture
def old_card(card: dict[str, Any]) -> dict[str, Any]:
    del card["supportedInterfaces"]
    return {
        **card,
        "url": "https://agents.example.com/",
        "protocolVersion": "0.3.0",
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [{"url": "https://agents.example.com/v1", "transport": "HTTP+JSON"}],
    }


def test_a_card_is_one_skill(skill_of: Callable[[Any], Skill], card: dict[str, Any]) -> None:
    """The agent takes a message; what the card calls skills describe it, and their first example is the valid call."""
    skill = skill_of(card)

    assert (skill.id, skill.format, skill.version, skill.author) == ("trip-planner", "a2a", "2.1.0", "Trains & Co")
    assert skill.example == {"message": "From Porto to Faro"}
    assert skill.description == "Plans trips by train.\nRoutes: Finds connections.\nFares: Says what it costs."
    assert skill.tags == ("trains", "routes")
    assert skill.output_schema == {"type": "string"}
    assert skill.access is not None
    assert (skill.access.adapter, skill.access.endpoint) == ("a2a", "https://agents.example.com/rpc")
    assert skill.access.options == {"parts": "text", "binding": "JSONRPC", "version": "1.0"}


def test_the_old_shape_is_read(skill_of: Callable[[Any], Skill], old_card: dict[str, Any]) -> None:
    """Its endpoint stands at the top."""
    access = skill_of(old_card).access

    assert access is not None
    assert access.endpoint == "https://agents.example.com/"
    assert access.options == {"parts": "text", "binding": "JSONRPC", "version": "0.3"}


@pytest.mark.parametrize(
    ("interfaces", "binding", "version", "tenant"),
    [
        ([("HTTP+JSON", "1.0.1", "shop"), ("JSONRPC", "1.0", "")], "HTTP+JSON", "1.0", "shop"),
        ([("HTTP+JSON", "0.3", ""), ("JSONRPC", "0.3", "")], "JSONRPC", "0.3", ""),
        ([("JSONRPC", "2.0", ""), ("JSONRPC", "0.2.5", "x")], "JSONRPC", "0.3", "x"),
    ],
)
def test_the_preferred_interface_that_we_speak_is_taken(
    skill_of: Callable[[Any], Skill],
    card: dict[str, Any],
    interfaces: list[tuple[str, str, str]],
    binding: str,
    version: str,
    tenant: str,
) -> None:
    """In the order of the card."""
    card["supportedInterfaces"] = [
        {"url": f"https://a.example/{at}", "protocolBinding": one, "protocolVersion": number, "tenant": of}
        for at, (one, number, of) in enumerate(interfaces)
    ]

    access = skill_of(card).access

    assert access is not None
    assert (access.options["binding"], access.options["version"]) == (binding, version)
    assert access.options.get("tenant", "") == tenant


def test_an_agent_that_takes_only_json_gets_its_example(skill_of: Callable[[Any], Skill], card: dict[str, Any]) -> None:
    """The first example that is an object tells the inputs."""
    card |= {"defaultInputModes": ["application/json"], "defaultOutputModes": ["application/json", "text/plain"]}
    card["skills"][0]["examples"] = ["From Porto", '{"from": "Porto", "to": "Faro", "seats": 2}']

    skill = skill_of(card)

    assert skill.example == {"from": "Porto", "to": "Faro", "seats": 2}
    assert skill.output_schema is None
    assert skill.access is not None
    assert skill.access.options["parts"] == "data"


def test_a_token_by_reference_is_taken_over(skill_of: Callable[[Any], Skill], card: dict[str, Any]) -> None:
    """A card that requires one has it beside its own members."""
    card |= {"securityRequirements": [{"schemes": {"bearer": {"list": []}}}], "auth": BEARER}

    access = skill_of(card).access

    assert access is not None
    assert access.options["auth"] == BEARER


@pytest.mark.parametrize(
    ("change", "pointer", "expected"),
    [
        ({"securityRequirements": [{"schemes": {"bearer": {"list": []}}}]}, "/auth", "a token by reference"),
        ({"security": [{"key": []}]}, "/auth", "a token by reference"),
        ({"auth": {"type": "bearer", "token": "sk-secret"}}, "/auth/token", "a reference such as"),
        ({"skills": []}, "/skills", "at least one skill"),
        ({"skills": ["routes"]}, "/skills/0", "an object"),
        ({"version": None}, "/version", "a text"),
        ({"defaultInputModes": ["audio/wav"]}, "/defaultInputModes", "text/plain or application/json"),
        ({"defaultInputModes": ["application/json"]}, "/skills/0/examples", "an example that is a JSON object"),
        (
            {
                "supportedInterfaces": [
                    {"url": "https://a.example", "protocolBinding": "GRPC", "protocolVersion": "1.0"}
                ]
            },
            "/supportedInterfaces",
            "an interface of JSONRPC 1.0",
        ),
        (
            {"supportedInterfaces": [{"url": "file:///x", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]},
            "/supportedInterfaces/0/url",
            "an http or https URL",
        ),
        ({"supportedInterfaces": None, "url": "https://u:p@a.example"}, "/url", "without user and password"),
    ],
)
def test_bad_cards_are_told_what_is_wrong(
    rejection_of: Callable[[Any], Rejection], card: dict[str, Any], change: dict[str, Any], pointer: str, expected: str
) -> None:
    """Each refusal names the place and what was expected there; no secret is shown."""
    rejection = rejection_of({**card, **change})

    assert rejection.pointer == f"/0{pointer}"
    assert expected in rejection.expected
    assert "sk-secret" not in str(rejection)


def test_an_optional_requirement_is_none(skill_of: Callable[[Any], Skill], card: dict[str, Any]) -> None:
    """A card may be open to callers without a token beside those with one."""
    assert skill_of({**card, "security": [{"key": []}, {}]}).access is not None
