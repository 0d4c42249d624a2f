"""The Model Context Protocol as both its transports speak it: what is said, and what the answers mean.

Two generations. The modern one (2026-07-28) has no session: each request says in ``_meta`` which version it speaks and
who asks. The older one opens a session with ``initialize``. Which one a server speaks is found by asking in the modern
one: ``server/discover`` is a method that no older server has.

Source: Model Context Protocol specification, 2026-07-28 (versioning, tools, streamable HTTP, stdio) and 2025-11-25.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Protocol

from msgspec import Struct

from workers.adapters._deadline import Deadline
from workers.adapters._json_rpc import Fault, Success
from workers.observation import Observation

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

# The error codes that only a modern server gives. Source: 2026-07-28, error codes.
HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION = -32020, -32021, -32022
MODERN_ERRORS = frozenset({HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION})

_META = "io.modelcontextprotocol/"


def client_info() -> dict[str, str]:
    """Who asks."""
    return {"name": "skillmark", "version": version("skillmark")}


def with_meta(params: Mapping[str, Any]) -> dict[str, Any]:
    """*params* of a modern request."""
    meta = {"protocolVersion": MODERN, "clientInfo": client_info(), "clientCapabilities": {}}
    return {**params, "_meta": {_META + name: value for name, value in meta.items()}}


def opening() -> dict[str, Any]:
    """The params of ``initialize``."""
    return {"protocolVersion": LEGACY[0], "capabilities": {}, "clientInfo": client_info()}


def agreed_version(answer: Success | Fault) -> str | None:
    """The older version that an ``initialize`` was answered with; None if it is none that we speak."""
    result = answer.result if isinstance(answer, Success) and isinstance(answer.result, dict) else {}
    agreed = result.get("protocolVersion")
    return agreed if agreed in LEGACY else None


def means_legacy(answer: Success | Fault) -> bool:
    """Whether *answer*, to ``server/discover``, is none that a server of the modern generation gives."""
    if isinstance(answer, Success):
        supported = answer.result.get("supportedVersions") if isinstance(answer.result, dict) else None
        return not isinstance(supported, list) or MODERN not in supported
    if answer.code == UNSUPPORTED_VERSION:
        supported = answer.data.get("supported") if isinstance(answer.data, dict) else None
        return isinstance(supported, list) and MODERN not in supported and any(one in LEGACY for one in supported)
    return answer.code not in MODERN_ERRORS


class Exchanged(Struct, frozen=True, kw_only=True):
    """One request and what came of it.

    *answer* is the JSON-RPC response, None where none came. *observation* says how: an `Answered` holds the response as
    it was received in its body (status 200 and no headers where there are none), and as its reply what is to be said
    where there is no *answer*.
    """

    observation: Observation
    answer: Success | Fault | None = None


class Line(Protocol):
    """One caller's way to one server: a session over HTTP, or a process with its stdin and stdout.

    What is said over it, the adapter knows; how it gets there and back, the line. Requests may be asked side by side.
    All methods raise FleetFault if our own side failed, and BadJob if the server may not be called or started at all.
    """

    version: str
    """The protocol version that was agreed on; empty before. Set by the adapter."""

    discover_s: float
    """How long an answer to ``server/discover`` is waited for: an older program may say nothing to it at all."""

    async def ask(
        self, method: str, params: dict[str, Any], deadline: Deadline, *, schema: Mapping[str, Any] | None = None
    ) -> Exchanged:
        """Send a request and wait for its response; *schema* is the input schema of the tool that is called."""
        ...

    async def tell(self, method: str, deadline: Deadline) -> None:
        """Send a notification; nothing comes back."""
        ...

    def undecided(self, exchanged: Exchanged) -> bool:
        """Whether what came of the first question says nothing of which versions the server speaks."""
        ...

    def lost(self, exchanged: Exchanged) -> bool:
        """Whether the server does not know this line any more: another must be opened."""
        ...

    async def reopen(self) -> None:
        """Make it as new: whatever was said over it so far is forgotten at the other end too."""
        ...

    async def close(self) -> None:
        """End it; the server is told, or ended. Never raises, and takes a few seconds at most."""
        ...


class ToolOptions(Struct, frozen=True):
    """What all MCP access options have in common: the *tool* that is called; empty for the server itself.

    An endpoint ``http(s)://...`` is called over HTTP (`_mcp_http.Options`), one ``stdio://NAME`` is a program to start:
    ``_mcp_stdio`` has its ``Options(ToolOptions)`` and ``open_line(skill, caller) -> Line``.
    """

    tool: str = ""
