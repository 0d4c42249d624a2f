"""The adapter against real servers: the reference implementation of either generation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests import mcp_peers
from tests.workers.adapters.conftest import skill_at
from workers.adapters import mcp
from workers.adapters.mcp import Mcp
from workers.observation import Answered, Refused, Value


def against(endpoint: str, steps: Callable[[Mcp, Callable[[str], Any]], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        adapter = mcp.open()
        assert isinstance(adapter, Mcp)
        try:
            return await steps(adapter, lambda tool: skill_at(endpoint, adapter="mcp", tool=tool))
        finally:
            await adapter.aclose()

    return asyncio.run(run())


def test_the_everything_server_is_spoken_to_in_a_session() -> None:
    """Its tools are listed; text, structured content and declared errors are told apart."""

    async def steps(adapter: Mcp, tool: Callable[[str], Any]) -> Any:
        listed = await adapter.tools(tool(""), deadline_s=10)
        called = [
            await adapter.call(tool("echo"), {"message": "hi"}, deadline_s=10),
            await adapter.call(tool("get-sum"), {"a": 2, "b": 3}, deadline_s=10),
            await adapter.call(tool("get-structured-content"), {"location": "New York"}, deadline_s=10),
            await adapter.call(tool("echo"), {}, deadline_s=10),
            await adapter.call(tool("no-such-tool"), {}, deadline_s=10),
        ]
        return listed, [one.reply for one in called if isinstance(one, Answered)]

    with mcp_peers.everything() as endpoint:
        listed, replies = against(endpoint, steps)

    assert {"echo", "get-sum", "get-structured-content"} <= {tool.name for tool in listed}
    echo, total, weather, invalid, unknown = replies
    assert echo == Value("Echo: hi")
    assert total == Value("The sum of 2 and 3 is 5.")
    assert set(weather.value) == {"temperature", "conditions", "humidity"}
    assert isinstance(invalid, Refused)
    assert isinstance(unknown, Refused)


@pytest.mark.parametrize("arguments", [(), ("json",)])
def test_a_server_of_the_modern_generation_is_called_without_a_session(arguments: tuple[str, ...]) -> None:
    """Structured results, JSON in a text, a declared error, inputs of a wrong type."""

    async def steps(adapter: Mcp, tool: Callable[[str], Any]) -> Any:
        listed = await adapter.tools(tool(""), deadline_s=10)
        called = [
            await adapter.call(tool("add"), {"a": 2, "b": 3}, deadline_s=10),
            await adapter.call(tool("table"), {"rows": 2}, deadline_s=10),
            await adapter.call(tool("divide"), {"a": 1, "b": 0}, deadline_s=10),
            await adapter.call(tool("add"), {"a": "x"}, deadline_s=10),
        ]
        adapter.request(tool("add"), {"a": 2, "b": 3})  # only a modern server has one
        return listed, [one.reply for one in called if isinstance(one, Answered)]

    with mcp_peers.modern(*arguments) as endpoint:
        listed, replies = against(endpoint, steps)

    assert [tool.name for tool in listed] == ["add", "reverse", "table", "divide"]
    total, squares, divided, wrong = replies
    assert total == Value({"result": 5})
    assert squares == Value([{"n": 0, "square": 0}, {"n": 1, "square": 1}])
    assert isinstance(divided, Refused)
    assert isinstance(wrong, Refused)
