"""MCP servers that are programs: small ones that misbehave, and real ones of both generations."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_peers import FOLDER, command
from workers.adapters import _mcp_servers, _mcp_stdio, mcp
from workers.adapters._adapter import MAIN_CALLER, NoHttpRequest
from workers.adapters.mcp import Mcp
from workers.faults import BadJob
from workers.observation import Answered, Broke, Refused, TimedOut, Value
from workers.sandbox import consent
from workers.wire.skill import Access, SkillRef

SERVER = """
import json, os, sys, time
mode, count = sys.argv[1], 0
if mode in ("slow", "late"):
    time.sleep(1.5 if mode == "slow" else 60)
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
print("starting, with a word on stdout", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if method == "server/discover":
        if mode == "dies":
            sys.exit("what is that?")
        if mode != "silent":
            say({"id": number, "error": {"code": -32601, "message": "Method not found"}})
    elif method == "initialize":
        say({"id": number, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                      "serverInfo": {"name": "small", "version": "1"}}})
    elif method == "tools/call":
        count += 1
        said = asked["params"]["arguments"].get("text", "")
        if said == "die":
            sys.exit("dying as asked")
        if said == "hang":
            continue
        if said == "ask back":
            say({"id": "s1", "method": "ping"})
            say({"id": "s2", "method": "sampling/createMessage", "params": {}})
            back = [json.loads(sys.stdin.readline()) for _ in range(2)]
            said = [one.get("result", one.get("error", {}).get("code")) for one in back]
        if said == "flood":
            while True:
                say({"method": "notifications/message", "params": {"data": "x" * 10000}})
        if said == "long":
            print("y" * (3 << 20), flush=True)
        say({"id": 999, "result": {"content": [{"type": "text", "text": "not yours"}]}})
        content = {"said": said, "pid": os.getpid(), "count": count}
        say({"id": number, "result": {"content": [], "structuredContent": content}})
        if said == "last":
            sys.exit(0)
"""


@pytest.fixture(autouse=True)
def _consent() -> Iterator[None]:
    consent.give(True)
    yield
    consent.give(False)


def server(folder: Path, mode: str = "older", tool: str = "say") -> SkillRef:
    """The tool of a small older server in *folder*."""
    (folder / "server.py").write_text(SERVER)
    return program("small", ["python3", "server.py", mode], folder, tool)


def peer(name: str, tool: str) -> SkillRef:
    """The *tool* of a real server."""
    return program(name, command(name), FOLDER / name, tool)


def program(name: str, argv: list[str], folder: Path, tool: str, **more: Any) -> SkillRef:
    options = {"tool": tool, "command": argv, "folder": str(folder)}
    about: dict[str, Any] = {"allow_exec": True, **more}
    return SkillRef(
        id=name,
        name=name,
        version="1.0.0",
        digest="sha256:0",
        access=Access(adapter="mcp", endpoint=f"stdio://{name}", options=options),
        input_schema={},
        **about,
    )


def with_adapter(use: Callable[[Mcp], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        adapter = mcp.open()
        assert isinstance(adapter, Mcp)
        try:
            return await use(adapter)
        finally:
            await adapter.aclose()

    return asyncio.run(run())


def calls(skill: SkillRef, *texts: str, deadline_s: float = 30.0, callers: tuple[str, ...] = ()) -> list[Any]:
    """What comes of calling *skill* with each of *texts*: the value where there is one, else the observation."""

    async def use(adapter: Mcp) -> list[Any]:
        found = []
        for number, text in enumerate(texts):
            caller = callers[number] if callers else MAIN_CALLER
            observation = await adapter.call(skill, {"text": text}, deadline_s=deadline_s, caller=caller)
            is_value = isinstance(observation, Answered) and isinstance(observation.reply, Value)
            found.append(observation.reply.value if is_value else observation)
        return found

    found: list[Any] = with_adapter(use)
    return found


def test_one_process_serves_all_calls(tmp_path: Path) -> None:
    """The server is started once and reused; lines that are no message, or answer nobody, are left alone."""
    first, second = calls(server(tmp_path), "a", "b")

    assert (first["said"], second["said"]) == ("a", "b")
    assert first["pid"] == second["pid"]
    assert second["count"] == 2


def test_each_caller_has_a_process_of_his_own(tmp_path: Path) -> None:
    """Two callers share no state."""
    first, other = calls(server(tmp_path), "a", "b", callers=("main", "other"))

    assert first["pid"] != other["pid"] or first["count"] == other["count"] == 1


def test_a_server_that_dies_fails_that_call_and_is_started_again(tmp_path: Path) -> None:
    """The call that kills it gets no second try, and says how it ended; the next is answered by a new process."""
    first, died, after = calls(server(tmp_path), "a", "die", "b")

    assert isinstance(died, Broke)
    assert died.reason == "the server ended (exit code 1); stderr ends with: dying as asked"
    assert (after["said"], after["count"]) == ("b", 1)
    assert first["count"] == 1


def test_a_server_that_ended_between_calls_is_started_again(tmp_path: Path) -> None:
    """One that ends after its answer is no failure of the next call."""
    last, after = calls(server(tmp_path), "last", "b")

    assert last["said"] == "last"
    assert (after["said"], after["count"]) == ("b", 1)


@pytest.mark.parametrize("mode", ["silent", "dies"])
def test_an_older_server_may_take_the_newer_question_badly(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that says nothing to it, or ends over it, is spoken to as its own generation wants."""
    monkeypatch.setattr(_mcp_stdio, "DISCOVER_S", 1.0)

    (answer,) = calls(server(tmp_path, mode), "a")

    assert answer["said"] == "a"


def test_the_start_of_a_server_is_not_billed_to_its_first_call(tmp_path: Path) -> None:
    """It takes longer than a call may, and the call is answered in time all the same."""
    (answer,) = calls(server(tmp_path, "slow"), "a", deadline_s=1.0)

    assert answer["said"] == "a"


def test_silence_to_the_newer_question_outlasts_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older server is waited for by the start's measure, however short its calls are."""
    monkeypatch.setattr(_mcp_stdio, "DISCOVER_S", 1.5)

    (answer,) = calls(server(tmp_path, "silent"), "a", deadline_s=1.0)

    assert answer["said"] == "a"


def test_a_server_that_never_starts_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After that the time of a call is all it gets."""
    monkeypatch.setattr(_mcp_servers, "START_S", 0.8)

    first, second = calls(server(tmp_path, "late"), "a", "b", deadline_s=0.4)

    assert (first.deadline_ms, second.deadline_ms) == (800.0, 400.0)


def test_a_call_that_hangs_times_out_and_the_next_is_answered(tmp_path: Path) -> None:
    """The deadline ends a call, not the server."""
    skill = server(tmp_path)

    async def use(adapter: Mcp) -> Any:
        await adapter.call(skill, {"text": "a"}, deadline_s=30)
        hung = await adapter.call(skill, {"text": "hang"}, deadline_s=0.3)
        return hung, await adapter.call(skill, {"text": "b"}, deadline_s=30)

    hung, after = with_adapter(use)

    assert isinstance(hung, TimedOut)
    assert isinstance(after, Answered)
    assert after.reply.value["count"] == 3


def test_the_servers_own_requests_are_answered(tmp_path: Path) -> None:
    """A ping is answered, anything else is declined, and the call goes on."""
    (answer,) = calls(server(tmp_path), "ask back")

    assert answer["said"] == [{}, -32601]


@pytest.mark.parametrize("text", ["flood", "long"])
def test_output_without_end_is_cut(tmp_path: Path, text: str) -> None:
    """Notifications without an answer, and a line without an end, cost bounded memory."""
    (broke,) = calls(server(tmp_path), text)

    assert isinstance(broke, Broke)
    assert "MiB without an answer" in broke.reason


def test_a_program_that_is_no_server_is_told(tmp_path: Path) -> None:
    """A program that ends at once is the skill's failure, and says how it ended."""
    (broke,) = calls(program("none", ["sh", "-c", "echo no config >&2; exit 2"], tmp_path, "say"), "a")

    assert isinstance(broke, Broke)
    assert broke.reason == "the server ended (exit code 2); stderr ends with: no config"


def test_nothing_is_started_without_leave(tmp_path: Path) -> None:
    """Both the job and the worker must allow it."""
    with pytest.raises(BadJob, match="--allow-exec"):
        calls(program("none", ["true"], tmp_path, "say", allow_exec=False), "a")


@pytest.mark.parametrize(
    ("name", "tool", "inputs", "value"),
    [
        ("calculator", "calculate", {"expression": "6 * 7"}, {"result": "42"}),
        ("everything", "echo", {"message": "hi"}, "Echo: hi"),
    ],
)
def test_real_servers_answer(name: str, tool: str, inputs: dict[str, Any], value: Any) -> None:
    """A server of the Python SDK and one of the TypeScript SDK list their tools and answer."""
    skill = peer(name, tool)

    async def use(adapter: Mcp) -> Any:
        listed = await adapter.tools(skill, deadline_s=60)
        return listed, await adapter.call(skill, inputs, deadline_s=60)

    listed, observation = with_adapter(use)

    assert tool in [one.name for one in listed]
    assert isinstance(observation, Answered)
    assert observation.reply == Value(value)


def test_a_real_modern_server_answers_and_refuses() -> None:
    """mcp-server-time speaks the newest generation; a zone that there is not is refused."""
    skill = peer("time", "get_current_time")

    async def use(adapter: Mcp) -> Any:
        known = await adapter.call(skill, {"timezone": "Asia/Tokyo"}, deadline_s=60)
        unknown = await adapter.call(skill, {"timezone": "Nowhere/Land"}, deadline_s=60)
        with pytest.raises(NoHttpRequest):
            adapter.request(skill, {})
        return known, unknown

    known, unknown = with_adapter(use)

    assert known.reply.value["timezone"] == "Asia/Tokyo"
    assert isinstance(unknown.reply, Refused)
