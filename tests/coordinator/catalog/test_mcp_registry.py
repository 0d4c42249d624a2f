from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.catalog.skill import Rejection, Skill

URL = "https://mcp.example.com/mcp"


@pytest.fixture
def server() -> dict[str, Any]:
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "com.example/weather",
        "title": "Weather",
        "description": "Forecasts for every town.",
        "version": "1.2.0",
        "websiteUrl": "https://example.com/weather",
        "repository": {"url": "https://git.example.com/weather", "source": "git"},
        "remotes": [{"type": "sse", "url": "https://mcp.example.com/sse"}, {"type": "streamable-http", "url": URL}],
    }


def package(**changes: Any) -> dict[str, Any]:
    made = {"registryType": "npm", "identifier": "@example/weather", "version": "1.2.0", "transport": {"type": "stdio"}}
    return {"remotes": [], "packages": [{**made, **changes}]}


def test_a_server_is_reached_over_its_streamable_remote(
    skill_of: Callable[[Any], Skill], server: dict[str, Any]
) -> None:
    """Whichever remote stands first; its tools are not known yet."""
    skill = skill_of(server)

    assert (skill.id, skill.name, skill.version, skill.author) == (
        "com.example/weather", "Weather", "1.2.0", "com.example"
    )  # fmt: skip
    assert (skill.format, skill.homepage, skill.source_url) == (
        "mcp_registry", "https://example.com/weather", "https://git.example.com/weather"
    )  # fmt: skip
    assert skill.access is not None
    assert (skill.access.adapter, skill.access.endpoint, skill.access.options) == ("mcp", URL, {})
    assert skill.inputs == ()


def test_what_the_registrys_api_wraps_and_older_spellings_are_read(
    skill_of: Callable[[Any], Skill], server: dict[str, Any]
) -> None:
    """The server stands within its envelope; versions and types had other names once."""
    remotes = [{"transport_type": "streamable-http", "url": URL}]
    older = {**server, "version_detail": {"version": "0.9.0"}, "remotes": remotes}
    del older["version"]

    assert skill_of({"server": server, "_meta": {}}).id == "com.example/weather"
    assert skill_of(older).version == "0.9.0"


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ({"name": "X-Region", "value": "eu"}, {"headers": {"X-Region": "eu"}}),
        ({"name": "X-Region", "default": "us"}, {"headers": {"X-Region": "us"}}),
        ({"name": "X-Region"}, {}),
        (
            {"name": "X-Region", "value": "{where}-1", "variables": {"where": {"default": "eu"}}},
            {"headers": {"X-Region": "eu-1"}},
        ),
        ({"name": "X-Key", "isSecret": True}, {}),
        (
            {"name": "X-Api-Key", "isSecret": True, "isRequired": True},
            {"auth": {"type": "api_key", "header": "X-Api-Key", "token": "env:X_API_KEY"}},
        ),
        (
            {"name": "X-Key", "is_secret": True, "is_required": True, "value": "env:WEATHER_KEY"},
            {"auth": {"type": "api_key", "header": "X-Key", "token": "env:WEATHER_KEY"}},
        ),
        (
            {"name": "Authorization", "value": "Bearer {my-token}", "variables": {"my-token": {"isSecret": True}}},
            {"auth": {"type": "bearer", "token": "env:MY_TOKEN"}},
        ),
    ],
)
def test_headers_are_sent_and_secrets_are_references(
    skill_of: Callable[[Any], Skill], server: dict[str, Any], header: dict[str, Any], options: dict[str, Any]
) -> None:
    """What is optional and has no value is left out."""
    skill = skill_of({**server, "remotes": [{"type": "streamable-http", "url": URL, "headers": [header]}]})

    assert skill.access is not None
    assert skill.access.options == options


def test_the_address_may_have_variables(skill_of: Callable[[Any], Skill], server: dict[str, Any]) -> None:
    """Each with a value or a default."""
    remote = {
        "type": "streamable-http",
        "url": "https://{tenant}.example.com/mcp",
        "variables": {"tenant": {"default": "public"}},
    }

    skill = skill_of({**server, "remotes": [remote]})

    assert skill.access is not None
    assert skill.access.endpoint == "https://public.example.com/mcp"


def test_a_package_is_a_program_that_is_installed(skill_of: Callable[[Any], Skill], server: dict[str, Any]) -> None:
    """Its arguments in their order, its variables by value or by reference."""
    changes = package(
        packageArguments=[
            {"type": "positional", "value": "stdio"},
            {"type": "named", "name": "--unit", "default": "metric"},
            {"type": "named", "name": "--quiet"},
        ],
        environmentVariables=[
            {"name": "LOG", "default": "info"},
            {"name": "TOKEN", "isSecret": True, "isRequired": True},
            {"name": "HOME_TOWN", "isRequired": True},
            {"name": "EXTRA"},
        ],
    )

    skill = skill_of({**server, **changes})

    assert skill.access is not None
    assert skill.access.endpoint == "stdio://com-example-weather"
    assert skill.access.options["command"] == ["npm:@example/weather@1.2.0", "stdio", "--unit", "metric"]
    assert skill.access.options["variables"] == {"LOG": "info", "TOKEN": "env:TOKEN", "HOME_TOWN": "env:HOME_TOWN"}


@pytest.mark.parametrize(
    ("changes", "pointer", "said"),
    [
        ({"remotes": [{"type": "sse", "url": URL}]}, "/remotes", "sse"),
        ({"remotes": []}, "", "neither"),
        ({"remotes": [{"type": "streamable-http", "url": "ftp://x/"}]}, "/remotes/0/url", "ftp"),
        ({"remotes": [{"type": "streamable-http", "url": "https://{x}.example.com/"}]}, "/remotes/0/url", "{x}"),
        ({"remotes": "https://x"}, "/remotes", "https://x"),
        ({"remotes": [7]}, "/remotes/0", "7"),
        ({"name": "a b"}, "/name", "a b"),
        ({"version": ""}, "/version", ""),
        (package(registryType="oci", identifier="x"), "/packages", "oci"),
        (package(transport={"type": "sse", "url": URL}), "/packages", "npm"),
        (package(packageArguments=[{"isRequired": True}]), "/packages/0/packageArguments/0/value", ""),
        (package(environmentVariables=[{"name": "A B"}]), "/packages/0/environmentVariables/0/name", "A B"),
    ],
)
def test_a_server_that_cannot_be_reached_is_rejected_with_the_reason(
    rejection_of: Callable[[Any], Rejection], server: dict[str, Any], changes: dict[str, Any], pointer: str, said: str
) -> None:
    """It is counted, and the others go on."""
    rejection = rejection_of({**server, **changes})

    assert rejection.pointer == f"/0{pointer}"
    assert said in rejection.found


@pytest.mark.parametrize(
    "headers",
    [
        [{"name": "Authorization", "isSecret": True, "value": "Bearer s3cr3t-token"}],
        [{"name": "X-Key", "isSecret": True, "value": "s3cr3t-token"}],
        [{"name": "X", "isSecret": True, "value": "{a}"}, {"name": "Y", "isSecret": True, "value": "{s3cr3t}x"}],
    ],
)
def test_a_secret_in_the_manifest_is_refused_and_not_shown(
    rejection_of: Callable[[Any], Rejection], server: dict[str, Any], headers: list[dict[str, Any]]
) -> None:
    """A catalog is no place for one; and one secret header is as many as are sent."""
    rejection = rejection_of({**server, "remotes": [{"type": "streamable-http", "url": URL, "headers": headers}]})

    assert "s3cr3t" not in str(rejection)


def test_a_manifest_of_ours_may_be_about_a_tool(skill_of: Callable[[Any], Skill], manifest: dict[str, Any]) -> None:
    """With ``protocol`` mcp its endpoint is a server's; the tool is the one that is told, or of its name."""
    named, told = skill_of({**manifest, "protocol": "mcp"}), skill_of({**manifest, "protocol": "mcp", "tool": "count"})

    assert named.access is not None
    assert told.access is not None
    assert (named.access.adapter, named.access.options) == ("mcp", {"tool": "Word counter"})
    assert told.access.options == {"tool": "count"}
