"""The tools of a server as skills. A server's catalog entry says where it is; what it can do, it says itself.

It is asked by a worker, in a job of its own: the coordinator never calls a skill. What it answers is as hostile as any
manifest, and is read with the same care.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from coordinator.catalog.canonical import digest
from coordinator.catalog.documents import check
from coordinator.catalog.example import example, is_guessed
from coordinator.catalog.identity import slug
from coordinator.catalog.object_schemas import members, object_schema
from coordinator.catalog.rejection import Rejected, child, printable, shown
from coordinator.catalog.schemas import check_schema
from coordinator.catalog.skill import Entry, Rejection, Skill
from workers.wire.result import Discovered, Judged, Result, Tool

DISCOVERY = "discovery"
TOOLS = 500
FORMAT = "mcp_registry"
FOUND_CHARS = 400

_NAME = re.compile(r"[!-~]{1,128}")


def is_server(skill: Skill) -> bool:
    """Whether *skill* stands for an MCP server whose tools are to be found out, and not for one of its tools."""
    return skill.access is not None and skill.access.adapter == "mcp" and not skill.access.options.get("tool")


def entries(server: Skill, results: Iterable[Result]) -> list[Entry] | None:
    """The tools of *server* by the *results* of asking it, or the rejection of a server that did not tell.

    None where it is not known, through no fault of the server's.
    """
    for result in results:
        if isinstance(result, Discovered):
            return _tools(server, result.tools[:TOOLS])
        if isinstance(result, Judged):
            return [_rejection(server, server.pointer, "an MCP server that lists its tools", result.verdict.evidence)]
    return None


def _tools(server: Skill, tools: tuple[Tool, ...]) -> list[Entry]:
    if not tools:
        return [_rejection(server, server.pointer, "an MCP server with at least one tool", "none")]
    found: list[Entry] = []
    names: set[str] = set()
    for tool in tools:
        pointer = child(child(server.pointer, "tools"), tool.name)
        try:
            skill = _skill(server, tool, pointer)
            if skill.id in names:
                raise Rejected("", "each tool of a server once", f"{shown(tool.name)} again")
        except Rejected as no:
            found.append(_rejection(server, pointer + no.pointer, no.expected, no.found))
        else:
            names.add(skill.id)
            found.append(skill)
    return found


def _skill(server: Skill, tool: Tool, pointer: str) -> Skill:
    if not tool.name:
        raise Rejected("/name", "the name of a tool", "an empty text")
    assert server.access is not None  # noqa: S101 - a server is called
    described = msgspec.to_builtins(tool)
    check(described)
    inputs_schema = object_schema(tool.input_schema, "/inputSchema")
    if tool.output_schema is not None:
        check_schema(tool.output_schema, "/outputSchema")
    inputs = members(inputs_schema)
    access = msgspec.structs.replace(server.access, options={**server.access.options, "tool": tool.name})
    return msgspec.structs.replace(
        server,
        id=f"{server.id}/{tool.name if _NAME.fullmatch(tool.name) else slug(tool.name)}",
        name=_line(tool.title or tool.name),
        digest=digest({"server": server.digest, "tool": described}),
        format=FORMAT,
        pointer=pointer,
        description=tool.description,
        inputs=inputs,
        outputs=members(tool.output_schema or {}),
        input_schema=inputs_schema,
        output_schema=tool.output_schema,
        example=example(inputs),
        guessed=is_guessed(inputs),
        access=access,
        stated=("inputSchema",),
    )


def _line(text: str) -> str:
    return printable(" ".join(text.split()))[:200]


def _rejection(server: Skill, pointer: str, expected: str, found: Any) -> Rejection:
    return Rejection(
        source=server.source, pointer=pointer, expected=expected, found=printable(str(found))[:FOUND_CHARS]
    )
