"""Real MCP servers, certified tool by tool with the command that a user has."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import coordinator
from tests import mcp_peers
from tests.e2e.command import Command, finished, lines, told

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
LOOPBACK = ("--allow-network", "127.0.0.0/8")


def registry(folder: Path, name: str, **changes: Any) -> None:
    """A ``server.json`` in a folder of its own."""
    document = {"$schema": SCHEMA, "name": name, "description": "A server to test against.", "version": "1.0.0"}
    path = folder / name.rpartition("/")[2] / "server.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**document, **changes}))


def short(folder: Path) -> Path:
    """The default policy with fewer requests: what is tested here is the way there, not the series."""
    text = (Path(coordinator.__file__).parent / "policies" / "default.toml").read_text()
    path = folder / "policy.toml"
    path.write_text(text.replace("requests = 20\n", "requests = 3\n").replace("duration_s = 2.0", "duration_s = 0.3"))
    return path


def by_name(folder: Path) -> dict[str, dict[str, Any]]:
    """The records by skill id, or by source where there is none."""
    return {one["skill"]["id"] or one["skill"]["source"]: one for one in lines(folder)}


def assert_judged(record: dict[str, Any], *, has_text: bool) -> None:
    """Certified; but one without a text input can carry no attack, and without that evidence nothing is certified."""
    for pillar in ("functional", "performance"):
        assert record["pillars"][pillar]["coverage"] == 1.0, (pillar, record["reasons"])
        assert record["pillars"][pillar]["score"] >= 80, (pillar, record["reasons"])
    assert record["latency_ms"]["samples"]
    if has_text:
        assert record["verdict"] == "certified", record["reasons"]
    else:
        assert record["verdict"] == "certified" or record["reasons"][0].startswith("security coverage")


def test_a_server_of_the_registry_is_certified_tool_by_tool(skillmark: Command, tmp_path: Path) -> None:
    """Its entry says where it is; the tools it tells itself, and each has its own line. What is no server is told."""
    with mcp_peers.modern() as endpoint:
        registry(tmp_path / "catalog", "com.example/modern", remotes=[{"type": "streamable-http", "url": endpoint}])
        registry(tmp_path / "catalog", "com.example/old", remotes=[{"type": "sse", "url": endpoint}])
        registry(
            tmp_path / "catalog",
            "com.example/page",
            remotes=[{"type": "streamable-http", "url": endpoint.replace("/mcp", "/nothing")}],
        )
        code, out, err = finished(
            skillmark(
                "certify", tmp_path / "catalog", *LOOPBACK, "--out", tmp_path / "out", "--policy", short(tmp_path)
            )
        )

    records = by_name(tmp_path / "out")
    assert code == 4, err  # two entries were rejected
    for tool in ("add", "reverse", "table", "divide"):
        record = records[f"com.example/modern/{tool}"]
        assert_judged(record, has_text=tool == "reverse")
        assert record["skill"]["source"].endswith(f"modern/server.json#/tools/{tool}")
        assert f"com.example/modern/{tool}" in out
    rejected = {source: one["reasons"][0] for source, one in records.items() if one["verdict"] == "rejected"}
    assert len(records) == 6
    assert any("sse" in reason for reason in rejected.values())
    assert any("404" in reason for reason in rejected.values())


def test_the_everything_server_is_certified_tool_by_tool(skillmark: Command, tmp_path: Path) -> None:
    """Over streamable HTTP with sessions, each tool by a manifest of its own, in one run."""
    schemas: dict[str, dict[str, Any]] = {
        "echo": {"message": {"type": "string", "description": "what to say again", "examples": ["hello"]}},
        "get-sum": {"a": {"type": "number", "examples": [2]}, "b": {"type": "number", "examples": [3]}},
        "get-structured-content": {"location": {"enum": ["New York", "Chicago", "Los Angeles"]}},
        "get-tiny-image": {},
        "get-annotated-message": {"messageType": {"enum": ["error", "success", "debug"]}},
    }
    with mcp_peers.everything() as endpoint:
        for tool, properties in schemas.items():
            manifest = {
                "id": tool,
                "name": tool,
                "version": "1.0.0",
                "description": "A tool of the server that has everything.",
                "inputSchema": {"type": "object", "properties": properties, "required": list(properties)},
                "adapterType": "mcp",
                "entrypoint": endpoint,
                "metadata": {"author": "Ada"},
            }
            (tmp_path / "catalog" / tool).mkdir(parents=True)
            (tmp_path / "catalog" / tool / "skill.json").write_text(json.dumps(manifest))
        _, _, err = finished(
            skillmark(
                "certify", tmp_path / "catalog", *LOOPBACK, "--out", tmp_path / "out", "--policy", short(tmp_path)
            )
        )

    records = by_name(tmp_path / "out")
    assert set(records) == set(schemas), err
    for tool, record in records.items():
        assert_judged(record, has_text=tool == "echo")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The peers' programs on the PATH; asked for before the command, which takes the environment as it is then."""
    programs = [str(Path(mcp_peers.command(name)[0]).parent) for name in ("calculator", "time")]
    monkeypatch.setenv("PATH", os.pathsep.join([*programs, os.environ["PATH"]]))


def test_packages_of_the_registry_are_started_and_certified(
    installed: None, skillmark: Command, tmp_path: Path
) -> None:
    """Only what is installed, in the version that the manifest names; nothing is downloaded."""
    for name, version in (
        ("mcp-server-calculator", "0.2.1"),
        ("mcp-server-time", "1.0"),
        ("not-installed-at-all", "1"),
    ):
        package = {
            "registryType": "pypi", "identifier": name, "version": version, "transport": {"type": "stdio"}
        }  # fmt: skip
        registry(tmp_path / "catalog", f"com.example/{name}", packages=[package])

    code, _, err = finished(
        skillmark(
            "certify", tmp_path / "catalog", "--allow-exec", "--out", tmp_path / "out", "--policy", short(tmp_path)
        )
    )

    records = by_name(tmp_path / "out")
    assert code == 4, err
    calculator = records["com.example/mcp-server-calculator/calculate"]
    assert calculator["mode"] == "live"
    assert [one["coverage"] for one in calculator["pillars"].values()] == [1.0] * 3, calculator["reasons"]
    assert records["com.example/mcp-server-time"]["verdict"] == "incomplete"
    assert "the manifest names 1.0" in str(records["com.example/mcp-server-time"]["reasons"])
    assert records["com.example/not-installed-at-all"]["verdict"] == "incomplete"
    assert "is not installed here" in str(records["com.example/not-installed-at-all"]["reasons"])


def test_a_package_is_not_started_without_leave(skillmark: Command, tmp_path: Path) -> None:
    """Its static evidence counts, and the flag that allows more is named."""
    package = {"registryType": "pypi", "identifier": "mcp-server-time", "transport": {"type": "stdio"}}
    registry(tmp_path / "catalog", "com.example/time", packages=[package])

    finished(skillmark("certify", tmp_path / "catalog", "--out", tmp_path / "out"))

    [record] = lines(tmp_path / "out")
    assert (record["mode"], record["verdict"]) == ("static", "not_certified")
    assert "--allow-exec" in str(record["reasons"])


def test_tools_are_judged_by_a_fleet_as_by_one_process_and_again_without_a_call(
    installed: None, skillmark: Command, broker_url: str, tmp_path: Path
) -> None:
    """Over HTTP and as programs: the same records either way; judged again when the servers are gone, the same."""
    catalog, store = tmp_path / "catalog", f"sqlite:///{tmp_path / 'fleet.sqlite'}"
    package = {"registryType": "pypi", "identifier": "mcp-server-calculator", "version": "0.2.1"}
    registry(catalog, "com.example/calculator", packages=[{**package, "transport": {"type": "stdio"}}])
    options = ("--allow-exec", *LOOPBACK, "--policy", short(tmp_path))
    with mcp_peers.modern() as endpoint:
        registry(catalog, "com.example/modern", remotes=[{"type": "streamable-http", "url": endpoint}])
        finished(skillmark("certify", catalog, *options, "--out", tmp_path / "embedded"))
        worker = skillmark("worker", "--broker", broker_url, "--allow-exec")
        fleet = ("--broker", broker_url, "--store", store, "--out", tmp_path / "fleet")
        _, _, err = finished(skillmark("certify", catalog, *options, *fleet))
        worker.terminate()
        _, _, worker_err = finished(worker)

    [run] = {one["run_id"] for one in lines(tmp_path / "fleet")}
    _, _, again_err = finished(
        skillmark("run", "rejudge", run, *options[-2:], "--store", store, "--out", tmp_path / "again")
    )

    assert len(lines(tmp_path / "fleet")) == 5, err + worker_err
    assert told(lines(tmp_path / "fleet")) == told(lines(tmp_path / "embedded"))
    assert (tmp_path / "again").exists(), again_err
    again = told(lines(tmp_path / "again"))
    assert {record["stamps"].pop("origin") for record in again} == {run}
    assert again == told(lines(tmp_path / "fleet"))
