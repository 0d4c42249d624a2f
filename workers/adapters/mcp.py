"""``mcp``: a tool of an MCP server, over streamable HTTP or stdio, in both generations of the protocol.

Which generation a server speaks is asked once with ``server/discover`` and remembered for the life of the process. Not
found out with the call itself: an older server may run a call of the newer kind before it finds fault with it.

Every caller has a line of his own: a session where there are sessions, a process where the server is a program. One
that the server has lost is opened again, once a call. The time that takes is no part of the call's latency. It counts
against its deadline over HTTP; a program gets a time of its own to start in (`_mcp_servers.START_S`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from workers.adapters import _json_rpc, _mcp, _mcp_http, _mcp_tools
from workers.adapters._adapter import MAIN_CALLER, Adapter, HttpRequest, NoHttpRequest
from workers.adapters._deadline import Deadline
from workers.adapters._json_rpc import Success
from workers.adapters._mcp import Exchanged
from workers.adapters._mcp_http import HttpLine
from workers.adapters._mcp_servers import Servers, Stopped
from workers.adapters._mcp_tools import BadTools, ToolList
from workers.faults import BadJob
from workers.observation import Answered, Malformed, Observation
from workers.wire.result import Tool
from workers.wire.skill import SkillRef


def open() -> Adapter:  # noqa: A001 - the name that every adapter module has
    """The adapter of this process."""
    return Mcp()


class Mcp:
    """Calls and lists tools. Belongs to one event loop."""

    def __init__(self) -> None:
        self._servers = Servers()

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = MAIN_CALLER
    ) -> Observation:
        """Call the tool once.

        Raises:
            FleetFault: If our own side failed.
            BadJob: If the server may not be called or started, or the access names no tool or cannot be used here.
        """
        params = {"name": _tool(skill), "arguments": dict(inputs)}
        exchanged = await self._ask(skill, caller, "tools/call", params, Deadline(deadline_s))
        if isinstance(exchanged.observation, Answered) and exchanged.answer is not None:
            return msgspec.structs.replace(exchanged.observation, reply=_mcp_tools.reply(exchanged.answer))
        return exchanged.observation

    async def tools(self, skill: SkillRef, *, deadline_s: float) -> tuple[Tool, ...] | Observation:
        """The tools of the server, or what it did instead of listing them.

        Raises:
            FleetFault, BadJob: As for `call`.
        """
        deadline = Deadline(deadline_s)
        listed, cursor = ToolList(), ""
        while True:
            params = {"cursor": cursor} if cursor else {}
            exchanged = await self._ask(skill, MAIN_CALLER, "tools/list", params, deadline)
            observation, answer = exchanged.observation, exchanged.answer
            if not isinstance(observation, Answered) or answer is None:
                return observation
            if not isinstance(answer, Success):
                return msgspec.structs.replace(observation, reply=_mcp_tools.reply(answer))
            try:
                cursor = listed.add(answer.result, len(observation.body)) or ""
            except BadTools as error:
                return msgspec.structs.replace(observation, reply=Malformed(str(error)))
            if not cursor:
                return tuple(listed.tools)

    async def prepare(self, skill: SkillRef, *, deadline_s: float) -> Observation | None:
        """Find out what `request` must know; None when it does, else what the server did instead.

        Raises:
            FleetFault, BadJob: As for `call`.
        """
        try:
            async with self._servers.line(skill, MAIN_CALLER, Deadline(deadline_s)):
                return None
        except Stopped as stopped:
            return stopped.observation

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        """The request that `call` would send to a modern server, once `prepare` has met it.

        Raises:
            NoHttpRequest: If there is none that could be sent again and again: in a session every request has an id of
                its own, an event stream may stay open after the answer, and a program has no HTTP.
            BadJob: If the access names no tool or cannot be used here.
        """
        params = {"name": _tool(skill), "arguments": dict(inputs)}
        line = self._servers.known(skill, MAIN_CALLER)
        if not isinstance(line, HttpLine) or line.version != _mcp.MODERN or line.streams:
            raise NoHttpRequest("a call of this MCP server is no plain HTTP request")
        body = _json_rpc.request("tools/call", _mcp.with_meta(params), 1)
        headers = (*line.headers("tools/call", params, skill.input_schema), ("Content-Length", str(len(body))))
        return HttpRequest(
            method="POST", url=line.url, headers=headers, body=body, read=lambda got: _mcp_http.reply_in(got, 1)
        )

    async def aclose(self) -> None:
        """End every session and process, and close every connection."""
        await self._servers.aclose()

    async def _ask(
        self, skill: SkillRef, caller: str, method: str, params: dict[str, Any], deadline: Deadline
    ) -> Exchanged:
        try:
            async with self._servers.line(skill, caller, deadline) as line:
                exchanged = await self._asked(line, skill, method, params, deadline)
                if not line.lost(exchanged):
                    return exchanged
                await self._servers.forget(skill, caller, line)
            async with self._servers.line(skill, caller, deadline) as line:
                return await self._asked(line, skill, method, params, deadline)
        except Stopped as stopped:
            return Exchanged(observation=stopped.observation)

    async def _asked(
        self, line: _mcp.Line, skill: SkillRef, method: str, params: dict[str, Any], deadline: Deadline
    ) -> Exchanged:
        sent = _mcp.with_meta(params) if line.version == _mcp.MODERN else params
        return await line.ask(method, sent, deadline, schema=skill.input_schema)


def _tool(skill: SkillRef) -> str:
    tool = skill.access.options.get("tool")
    if not isinstance(tool, str) or not tool:
        raise BadJob("the access names no tool of the MCP server")
    return tool
