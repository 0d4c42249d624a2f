"""A server made with the MCP project's own Python SDK; run by a test peer's interpreter (tests/mcp_peers.py)."""

import json
import sys
from typing import Any

from mcp.server.mcpserver import MCPServer  # type: ignore[import-not-found]
from mcp.server.mcpserver.exceptions import ToolError  # type: ignore[import-not-found]

server = MCPServer("modern")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


@server.tool()
def reverse(text: str) -> str:
    """Write a text backwards."""
    return text[::-1]


@server.tool(structured_output=False)
def table(rows: int) -> str:
    """Squares of the first numbers, at most a hundred, as a JSON text."""
    if not 0 <= rows <= 100:
        raise ToolError("rows must be from 0 to 100")
    return json.dumps([{"n": n, "square": n * n} for n in range(rows)])


@server.tool()
def divide(a: float, b: float) -> dict[str, Any]:
    """Divide one number by another."""
    if b == 0:
        raise ToolError("division by zero")
    return {"quotient": a / b}


if __name__ == "__main__":
    port, *rest = sys.argv[1:]
    server.run("streamable-http", host="127.0.0.1", port=int(port), json_response="json" in rest)
