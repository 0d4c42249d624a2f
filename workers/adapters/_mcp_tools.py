"""What an MCP server says of its tools, and what the result of a tool's call means; the same in all versions.

Source: Model Context Protocol specification, 2026-07-28 and 2025-11-25, tools.
"""

from __future__ import annotations

from typing import Any

from workers.adapters import _json
from workers.adapters._json_rpc import Fault, Success
from workers.observation import Failed, Malformed, Refused, Reply, Value
from workers.wire.result import Tool

TOOLS = 500
TOOLS_BYTES = 1 << 20
PAGES = 100
QUOTED_CHARS = 300

# JSON-RPC's parse and internal errors; the modern protocol's complaints of headers and of the version.
BROKEN = frozenset({-32700, -32603, -32020, -32022})


class BadTools(Exception):
    """A list of tools that is none, or over our limits; the message says why."""


def reply(answer: Success | Fault) -> Reply:
    """What the answer to ``tools/call`` says.

    ``structuredContent`` is the value where there is one; else the text, several joined by line ends, and one that is
    JSON stands for its value. Content without any text is the value itself. Errors decline the call, but for those by
    which a server says that it broke, or finds fault with the protocol.
    """
    if isinstance(answer, Fault):
        return Failed(answer.told) if answer.code in BROKEN else Refused(answer.told)
    result = answer.result
    if not isinstance(result, dict):
        return Malformed("the result of the call is no JSON object")
    if result.get("resultType") == "input_required":
        return Refused("the tool asks its caller for more input, which only a person could give")
    content = result.get("content", [])
    if not isinstance(content, list) or not all(isinstance(item, dict) for item in content):
        return Malformed("the content of the result is no list of objects")
    texts = [item["text"] for item in content if item.get("type") == "text" and isinstance(item.get("text"), str)]
    if result.get("isError") is True:
        return Refused(f"the tool reports an error: {' '.join(texts)[:QUOTED_CHARS]}")
    if result.get("structuredContent") is not None:
        return Value(result["structuredContent"])
    if texts:
        return Value(_value("\n".join(texts)))
    if "content" in result:
        return Value(content)
    if "structuredContent" in result:
        return Value(None)
    return Malformed("the result has neither content nor structuredContent")


def _value(text: str) -> Any:
    try:
        return _json.decoded(text.encode())
    except (_json.NotJson, UnicodeEncodeError):
        return text


class ToolList:
    """The tools of one server, page by page."""

    def __init__(self) -> None:
        self.tools: list[Tool] = []
        self._bytes = 0
        self._cursors: set[str] = set()

    def add(self, result: Any, size: int) -> str | None:
        """Take the *result* of ``tools/list``, *size* bytes as it came; the cursor of the next page, None at the end.

        Raises:
            BadTools: If it is no page of tools, or the list is over its limits or goes in a circle.
        """
        listed = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(listed, list):
            raise BadTools("the answer to tools/list holds no list of tools")
        self._bytes += size
        if self._bytes > TOOLS_BYTES or len(self.tools) + len(listed) > TOOLS:
            raise BadTools(f"it lists more than {TOOLS} tools or {TOOLS_BYTES:,} bytes")
        self.tools += [_tool(one) for one in listed]
        cursor = result.get("nextCursor")
        if cursor is None:
            return None
        if not isinstance(cursor, str) or cursor in self._cursors:
            raise BadTools("its list of tools goes in a circle")
        self._cursors.add(cursor)
        if len(self._cursors) >= PAGES:
            raise BadTools(f"it lists its tools on more than {PAGES} pages")
        return cursor


def _tool(listed: Any) -> Tool:
    if not isinstance(listed, dict) or not isinstance(listed.get("name"), str):
        raise BadTools("it lists a tool without a name")
    return Tool(
        name=listed["name"],
        title=_text(listed.get("title")),
        description=_text(listed.get("description")),
        input_schema=listed.get("inputSchema"),
        output_schema=listed.get("outputSchema"),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
