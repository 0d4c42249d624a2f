from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coordinator.catalog.index import entries
from coordinator.catalog.skill import Entry, Rejection, Skill


@pytest.fixture
def beside(tmp_path: Path) -> Callable[[Any, Any], Entry]:
    """The entry of a folder with a skill.json and an adapter.config.json."""

    def read(manifest: Any, config: Any) -> Entry:
        (tmp_path / "skill.json").write_text(json.dumps(manifest))
        (tmp_path / "adapter.config.json").write_text(config if isinstance(config, str) else json.dumps(config))
        (entry,) = entries(tmp_path)
        return entry

    return read


def test_http_skill_is_read_whole(skill_of: Callable[[Any], Skill], eval_manifest: dict[str, Any]) -> None:
    """Schemas are taken over as declared, references among them, and the example is valid by them."""
    skill = skill_of(eval_manifest)

    assert (skill.id, skill.format, skill.author, skill.license) == ("adder", "eval_skills", "Ada", "MIT")
    assert skill.input_schema == eval_manifest["inputSchema"]
    assert skill.output_schema == eval_manifest["outputSchema"]
    assert skill.example == {"a": 10, "b": 3}
    assert skill.access is not None
    assert (skill.access.adapter, skill.access.endpoint) == ("http", "http://127.0.0.1:8000/add")
    assert skill.access.options == {"body": "envelope"}


@pytest.mark.parametrize("adapter", ["langchain", "custom", "stdio"])
def test_other_adapters_are_told_what_is_supported(
    rejection_of: Callable[[Any], Rejection], eval_manifest: dict[str, Any], adapter: str
) -> None:
    """A skill of another adapter type is refused with the types that there are."""
    rejection = rejection_of({**eval_manifest, "adapterType": adapter})

    assert rejection.pointer == "/0/adapterType"
    assert rejection.expected == "an adapter type that is supported: http, mcp, subprocess"
    assert rejection.found == f'"{adapter}"'


def test_config_beside_gives_base_url_auth_and_time_limit(
    beside: Callable[[Any, Any], Entry], eval_manifest: dict[str, Any]
) -> None:
    """A path is called at the base URL, with the token by reference."""
    config = {
        "type": "http",
        "baseUrl": "http://127.0.0.1:3000/api",
        "authType": "bearer",
        "authTokenEnvKey": "ADDER_KEY",
        "timeoutMs": 15000,
    }

    skill = beside({**eval_manifest, "entrypoint": "/invoke"}, config)

    assert isinstance(skill, Skill)
    assert skill.access is not None
    assert skill.access.endpoint == "http://127.0.0.1:3000/api/invoke"
    assert skill.access.options == {"body": "envelope", "auth": {"type": "bearer", "token": "env:ADDER_KEY"}}
    assert skill.timeout_ms == 15000


@pytest.mark.parametrize(
    ("config", "pointer"),
    [
        ("{", "adapter.config.json"),
        ([], "adapter.config.json"),
        ({"baseUrl": 3}, "adapter.config.json/baseUrl"),
        ({"baseUrl": "gopher://x/"}, "adapter.config.json/baseUrl"),
        ({"baseUrl": "http://other/", "authType": "bearer", "authTokenEnvKey": "X"}, "/entrypoint"),
        ({"authType": "magic"}, "adapter.config.json/authType"),
        ({"authType": "bearer"}, "adapter.config.json/authTokenEnvKey"),
        ({"authType": "bearer", "authTokenEnvKey": "s3cret value"}, "adapter.config.json/authTokenEnvKey"),
        ({"timeoutMs": "soon"}, "adapter.config.json/timeoutMs"),
        ({"type": "subprocess"}, "adapter.config.json/type"),
    ],
)
def test_wrong_config_is_refused_where_it_stands(
    beside: Callable[[Any, Any], Entry], eval_manifest: dict[str, Any], config: Any, pointer: str
) -> None:
    """A wrong adapter.config.json rejects its skill by name, and never shows what might be a secret."""
    rejection = beside(eval_manifest, config)

    assert isinstance(rejection, Rejection)
    assert rejection.pointer == pointer
    assert "s3cret" not in str(rejection)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"id": None}, "/0/id"),
        ({"entrypoint": "/invoke"}, "/0/entrypoint"),
        ({"entrypoint": "python3 skill.py"}, "/0/entrypoint"),
        ({"inputSchema": None}, "/0/inputSchema"),
        ({"inputSchema": {"type": "array"}}, "/0/inputSchema/type"),
        ({"inputSchema": {"properties": {"a": {"minLength": -1}}}}, "/0/inputSchema/properties/a/minLength"),
        ({"outputSchema": {"pattern": "(?=a)"}}, "/0/outputSchema/pattern"),
        ({"metadata": []}, "/0/metadata"),
    ],
)
def test_wrong_field_is_refused_where_it_stands(
    rejection_of: Callable[[Any], Rejection], eval_manifest: dict[str, Any], change: dict[str, Any], pointer: str
) -> None:
    """Each wrong member is told by its pointer."""
    assert rejection_of({**eval_manifest, **change}).pointer == pointer


def test_program_is_its_entrypoint_in_its_folder(
    beside: Callable[[Any, Any], Entry], eval_manifest: dict[str, Any], tmp_path: Path
) -> None:
    """A subprocess skill is started where its manifest stands; words are split as a shell would."""
    skill = beside({**eval_manifest, "adapterType": "subprocess", "entrypoint": "python3 skill.py --mode 'a b'"}, {})

    assert isinstance(skill, Skill)
    assert skill.access is not None
    assert skill.access.is_program
    assert (skill.access.adapter, skill.access.endpoint) == ("subprocess", "stdio://adder")
    assert skill.access.options == {"command": ["python3", "skill.py", "--mode", "a b"], "folder": str(tmp_path)}


@pytest.mark.parametrize(
    ("entrypoint", "config", "command"),
    [
        ("python3 skill.py", {"command": "python3", "args": ["main.py", ""]}, ["python3", "main.py", ""]),
        ("skill.py", {"command": "python3"}, ["python3", "skill.py"]),
        ("python3 skill.py", {"command": "python3"}, ["python3", "skill.py"]),
        ("python3 skill.py", {"command": "uv run", "args": []}, ["uv", "run"]),
    ],
)
def test_command_of_the_config_comes_first(
    beside: Callable[[Any, Any], Entry],
    eval_manifest: dict[str, Any],
    entrypoint: str,
    config: dict[str, Any],
    command: list[str],
) -> None:
    """Where the config gives a command, the entrypoint is what it runs, or its args are."""
    config = {"type": "subprocess", "timeoutMs": 700, **config}

    skill = beside({**eval_manifest, "adapterType": "subprocess", "entrypoint": entrypoint}, config)

    assert isinstance(skill, Skill), str(skill)
    assert skill.access is not None
    assert skill.access.options["command"] == command
    assert skill.timeout_ms == 700


def test_token_of_a_program_goes_into_its_environment(
    beside: Callable[[Any, Any], Entry], eval_manifest: dict[str, Any]
) -> None:
    """The variable that the config names is given by reference, under its own name."""
    skill = beside(
        {**eval_manifest, "adapterType": "subprocess", "entrypoint": "./run"}, {"authTokenEnvKey": "ADDER_KEY"}
    )

    assert isinstance(skill, Skill)
    assert skill.access is not None
    assert skill.access.options["variables"] == {"ADDER_KEY": "env:ADDER_KEY"}


@pytest.mark.parametrize(
    ("entrypoint", "config", "pointer"),
    [
        ("npm install && node skill.js", {}, "/entrypoint"),
        ("cat x | sh", {}, "/entrypoint"),
        ("python3 'skill.py", {}, "/entrypoint"),
        ("python3 skill.py", {"command": "python3", "args": "skill.py"}, "adapter.config.json/args"),
        ("python3 skill.py", {"command": "python3", "args": [1]}, "adapter.config.json/args/0"),
        ("python3 skill.py", {"command": ["python3"]}, "adapter.config.json/command"),
        ("python3 skill.py", {"authTokenEnvKey": "s3cret value"}, "adapter.config.json/authTokenEnvKey"),
    ],
)
def test_command_that_needs_a_shell_or_is_none_is_refused(
    beside: Callable[[Any, Any], Entry],
    eval_manifest: dict[str, Any],
    entrypoint: str,
    config: dict[str, Any],
    pointer: str,
) -> None:
    """One command is run, without a shell; what is none is told where it stands."""
    rejection = beside({**eval_manifest, "adapterType": "subprocess", "entrypoint": entrypoint}, config)

    assert isinstance(rejection, Rejection)
    assert rejection.pointer == pointer
    assert "s3cret" not in str(rejection)


@pytest.mark.parametrize(
    ("entrypoint", "config", "endpoint", "options"),
    [
        ("http://127.0.0.1:8000/mcp", {}, "http://127.0.0.1:8000/mcp", {"tool": "adder"}),
        ("/mcp", {"baseUrl": "http://127.0.0.1:8000", "toolName": "add"}, "http://127.0.0.1:8000/mcp", {"tool": "add"}),
    ],
)
def test_mcp_skill_is_one_tool_of_a_server(
    beside: Callable[[Any, Any], Entry],
    eval_manifest: dict[str, Any],
    entrypoint: str,
    config: dict[str, Any],
    endpoint: str,
    options: dict[str, Any],
) -> None:
    """An MCP skill names its tool in the config, or is the tool with its own id."""
    skill = beside({**eval_manifest, "adapterType": "mcp", "entrypoint": entrypoint}, config)

    assert isinstance(skill, Skill), str(skill)
    assert skill.access is not None
    assert (skill.access.adapter, skill.access.endpoint) == ("mcp", endpoint)
    assert skill.access.options == options


def test_mcp_skill_may_be_a_program(
    beside: Callable[[Any, Any], Entry], eval_manifest: dict[str, Any], tmp_path: Path
) -> None:
    """An MCP skill whose entrypoint is a command is started in its folder."""
    skill = beside({**eval_manifest, "adapterType": "mcp", "entrypoint": "node server.js"}, {"tool": "add"})

    assert isinstance(skill, Skill)
    assert skill.access is not None
    assert skill.access.is_program
    assert skill.access.options == {"command": ["node", "server.js"], "folder": str(tmp_path), "tool": "add"}
