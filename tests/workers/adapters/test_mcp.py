"""The adapter against servers whose every byte the test decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from tests.workers.adapters.conftest import RawServer, Request, skill_at
from workers.adapters import _mcp_servers, mcp
from workers.adapters._adapter import NoHttpRequest
from workers.adapters.mcp import Mcp
from workers.faults import BadJob
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut, Value
from workers.wire.result import Tool
from workers.wire.skill import SkillRef

Steps = Callable[[Mcp, SkillRef], Awaitable[Any]]
ECHO = {"content": [{"type": "text", "text": "hi"}]}


def response(status: int, body: bytes, *headers: str, kind: str = "application/json") -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def result(request: Request, value: Any, *headers: str) -> bytes:
    sent = msgspec.json.decode(request.body)
    return response(200, msgspec.json.encode({"jsonrpc": "2.0", "id": sent["id"], "result": value}), *headers)


def error(request: Request, code: int, status: int = 200, message: str = "no", data: Any = None) -> bytes:
    sent = msgspec.json.decode(request.body)
    told = {"code": code, "message": message, "data": data}
    return response(status, msgspec.json.encode({"jsonrpc": "2.0", "id": sent.get("id"), "error": told}))


class Server:
    """Keeps what it was asked; *answers* says what comes back to a method, *discover* what to the first question."""

    def __init__(self, discover: Callable[[Request], bytes], **answers: Callable[[Request], bytes]) -> None:
        self.asked: list[tuple[str, Request]] = []
        self.discover = discover
        self.answers = answers
        self.sessions = 0
        self.ended = asyncio.Event()

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if request.head.startswith(b"DELETE"):
            self.asked.append(("DELETE", request))
            self.ended.set()
            writer.write(response(405, b""))
            return
        method = msgspec.json.decode(request.body)["method"]
        self.asked.append((method, request))
        writer.write(self.answer(method, request))

    def answer(self, method: str, request: Request) -> bytes:
        if method == "server/discover":
            return self.discover(request)
        if (name := method.replace("/", "_")) in self.answers:
            return self.answers[name](request)
        if method == "initialize":
            self.sessions += 1
            opened = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
            return result(request, opened, f"Mcp-Session-Id: s-{self.sessions}")
        return response(202, b"") if method == "notifications/initialized" else result(request, ECHO)

    def methods(self) -> list[str]:
        return [method for method, _ in self.asked]


def modern(request: Request) -> bytes:
    return result(request, {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}})


def old(request: Request) -> bytes:
    return error(request, -32601)


def against(server: Server, steps: Steps, **options: Any) -> Any:
    """What *steps* give, taken with an adapter and a skill of *server*; the adapter is closed before the server."""

    async def run() -> Any:
        async with RawServer(server) as raw:
            adapter = mcp.open()
            assert isinstance(adapter, Mcp)
            skill = skill_at(f"http://127.0.0.1:{raw.port}/mcp", adapter="mcp", **{"tool": "echo", **options})
            try:
                return await steps(adapter, skill)
            finally:
                await adapter.aclose()

    return asyncio.run(run())


async def one_call(adapter: Mcp, skill: SkillRef) -> Observation:
    return await adapter.call(skill, {"message": "hi"}, deadline_s=5)


def reply_of(observation: Observation) -> Any:
    assert isinstance(observation, Answered)
    return observation.reply


def test_a_modern_server_is_called_without_a_session() -> None:
    """Version, method and name stand in headers, and who asks in the request itself."""
    server = Server(modern)

    observation = against(server, one_call)

    assert reply_of(observation) == Value("hi")
    assert server.methods() == ["server/discover", "tools/call"]
    request = server.asked[1][1]
    assert [request.header(name) for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")] == [
        "2026-07-28", "tools/call", "echo"
    ]  # fmt: skip
    assert request.header("accept") == "application/json, text/event-stream"
    assert request.header("mcp-session-id") is None
    params = msgspec.json.decode(request.body)["params"]
    assert params["arguments"] == {"message": "hi"}
    assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] == "skillmark"
    assert params["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {}


@pytest.mark.parametrize(
    "discover",
    [
        old,
        lambda request: error(request, -32600, 400, "Server not initialized"),
        lambda request: error(request, -32022, 400, data={"supported": ["2025-06-18"]}),
        lambda request: response(400, b""),
        lambda request: response(404, b"Not Found", kind="text/plain"),
        lambda request: response(405, b"<html>405</html>", kind="text/html"),
        lambda request: response(406, b"{}"),
        lambda request: response(200, b"<!doctype html><p>Welcome", kind="text/html"),
        lambda request: response(500, b"oops", kind="text/plain"),
        lambda request: result(request, {}),
    ],
)
def test_an_older_server_is_spoken_to_in_its_own_way(discover: Callable[[Request], bytes]) -> None:
    """Whatever it makes of the modern question: a session is opened, kept, and ended when we are done."""
    server = Server(discover)

    async def two_calls(adapter: Mcp, skill: SkillRef) -> list[Observation]:
        return [await one_call(adapter, skill), await one_call(adapter, skill)]

    found = against(server, two_calls)

    assert [reply_of(one) for one in found] == [Value("hi")] * 2
    assert server.methods() == [
        "server/discover", "initialize", "notifications/initialized", "tools/call", "tools/call", "DELETE"
    ]  # fmt: skip
    opening = server.asked[1][1]
    assert msgspec.json.decode(opening.body)["params"]["protocolVersion"] == "2025-11-25"
    assert opening.header("mcp-method") is None
    for _, request in server.asked[2:]:
        assert request.header("mcp-protocol-version") == "2025-06-18"
        assert request.header("mcp-session-id") == "s-1"
    ids = [msgspec.json.decode(request.body).get("id") for _, request in server.asked[:-1]]
    assert len({*ids}) == len(ids)


def test_two_callers_have_two_sessions() -> None:
    """To the server they are two users, and which generation it speaks is asked once."""
    server = Server(old)

    async def two_callers(adapter: Mcp, skill: SkillRef) -> None:
        await adapter.call(skill, {}, deadline_s=5, caller="a")
        await adapter.call(skill, {}, deadline_s=5, caller="b")

    against(server, two_callers)

    assert server.methods().count("server/discover") == 1
    calls = [request.header("mcp-session-id") for method, request in server.asked if method == "tools/call"]
    assert calls == ["s-1", "s-2"]
    ended = {request.header("mcp-session-id") for method, request in server.asked if method == "DELETE"}
    assert ended == {"s-1", "s-2"}


@pytest.mark.parametrize(
    "gone",
    [
        lambda request: response(404, b""),
        lambda request: error(request, -32001, 404, "Session not found"),
        lambda request: error(request, -32000, 400, "Bad Request: No valid session ID provided"),
    ],
)
def test_a_session_that_the_server_lost_is_begun_again(gone: Callable[[Request], bytes]) -> None:
    """Once a call; the caller sees the answer only."""

    def call(request: Request) -> bytes:
        return gone(request) if request.header("mcp-session-id") == "s-1" else result(request, ECHO)

    server = Server(old, tools_call=call)

    observation = against(server, one_call)

    assert reply_of(observation) == Value("hi")
    assert server.methods().count("initialize") == 2


def test_a_server_that_loses_every_session_is_not_asked_for_ever() -> None:
    """After the second it is the skill's answer."""
    server = Server(old, tools_call=lambda request: response(404, b"gone"))

    observation = against(server, one_call)

    assert isinstance(reply_of(observation), Refused)
    assert server.methods().count("tools/call") == 2


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda request: error(request, -32602, 400, "unknown tool"), Refused),
        (lambda request: error(request, -32603), Failed),
        (lambda request: response(503, b"later", kind="text/plain"), Failed),
        (lambda request: response(403, b"no"), Refused),
        (lambda request: response(200, b"<p>", kind="text/html"), Malformed),
        (lambda request: response(200, b""), Malformed),
        (lambda request: response(200, b'{"jsonrpc":"2.0","id":99,"result":{}}'), Malformed),
        (lambda request: response(302, b"", "Location: http://127.0.0.1/"), Malformed),
    ],
)
def test_what_is_no_answer_is_the_skills_doing(answer: Callable[[Request], bytes], expected: type) -> None:
    """By the JSON-RPC error where there is one, by the status otherwise."""
    observation = against(Server(modern, tools_call=answer), one_call)

    assert isinstance(reply_of(observation), expected)


class Streams(Server):
    """Answers calls with an event stream that it keeps open."""

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if b"tools/call" not in request.body:
            await super().__call__(request, writer)
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n: hello\r\n\r\n")
        for message in (
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}},
            {"jsonrpc": "2.0", "id": msgspec.json.decode(request.body)["id"], "result": ECHO},
        ):
            writer.write(b"event: message\r\ndata: " + msgspec.json.encode(message) + b"\r\n\r\n")
            await writer.drain()
        await asyncio.sleep(60)


@pytest.mark.parametrize("discover", [modern, old])
def test_an_event_stream_is_read_up_to_the_answer(discover: Callable[[Request], bytes]) -> None:
    """It may stay open; what else came over it is kept beside the answer, as JSON."""
    observation = against(Streams(discover), one_call)

    assert reply_of(observation) == Value("hi")
    assert observation.elapsed_ms < 5_000
    kept = msgspec.json.decode(observation.body)
    assert [message.get("method") for message in kept] == ["notifications/progress", None]


def test_the_deadline_covers_the_opening_too() -> None:
    """A server that never answers costs one deadline and no more."""

    class Silent(Server):
        async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(60)

    async def impatient(adapter: Mcp, skill: SkillRef) -> Observation:
        return await adapter.call(skill, {}, deadline_s=0.3)

    observation = against(Silent(modern), impatient)

    assert isinstance(observation, TimedOut)
    assert observation.deadline_ms == pytest.approx(300)


def test_a_server_that_is_not_there_is_not_called() -> None:
    """Nobody listens; that is the skill's doing, and the next call tries again."""

    async def run() -> Observation:
        async with RawServer(Server(modern)) as raw:
            port = raw.port
        adapter = mcp.open()
        try:
            return await adapter.call(skill_at(f"http://127.0.0.1:{port}/", adapter="mcp", tool="x"), {}, deadline_s=5)
        finally:
            await adapter.aclose()

    assert isinstance(asyncio.run(run()), Broke)


@pytest.mark.parametrize("status", [401, 403, 429])
def test_who_may_not_ask_learns_nothing_of_the_protocol(status: int) -> None:
    """It is asked anew each time, and never tried in the older way."""
    server = Server(lambda request: response(status, b"who are you?"))

    async def two_calls(adapter: Mcp, skill: SkillRef) -> list[Observation]:
        return [await one_call(adapter, skill), await one_call(adapter, skill)]

    found = against(server, two_calls)

    assert [type(reply_of(one)) for one in found] == [Refused, Refused]
    assert set(server.methods()) == {"server/discover"}


@pytest.mark.parametrize(
    "opened",
    [
        lambda request: error(request, -32601),
        lambda request: result(request, {"protocolVersion": "1999-01-01"}),
        lambda request: result(request, {"protocolVersion": "2025-06-18"}, "Mcp-Session-Id: a b"),
        lambda request: response(200, b"<html>", kind="text/html"),
        lambda request: response(404, b"nothing here", kind="text/plain"),
    ],
)
def test_a_web_page_is_no_mcp_server(opened: Callable[[Request], bytes]) -> None:
    """Neither generation is spoken there; no call is sent, and the reason is told."""
    server = Server(lambda request: response(404, b"<html>", kind="text/html"), initialize=opened)

    observation = against(server, one_call)

    assert not isinstance(reply_of(observation), Value)
    assert "tools/call" not in server.methods()


def test_a_modern_server_without_the_question_is_modern_still() -> None:
    """It answers in JSON-RPC, and has no sessions."""
    server = Server(old, initialize=lambda request: error(request, -32601, 404))

    assert reply_of(against(server, one_call)) == Value("hi")
    assert server.asked[-1][1].header("mcp-method") == "tools/call"


def test_tools_are_listed_page_by_page() -> None:
    """In the order and the words of the server."""

    def page(request: Request) -> bytes:
        cursor = msgspec.json.decode(request.body)["params"].get("cursor")
        if cursor:
            return result(request, {"tools": [{"name": "b", "outputSchema": {"type": "object"}}]})
        return result(request, {"tools": [{"name": "a", "title": "A", "inputSchema": {}}], "nextCursor": "next"})

    async def listing(adapter: Mcp, skill: SkillRef) -> Any:
        return await adapter.tools(skill, deadline_s=5)

    for discover in (modern, old):
        found = against(Server(discover, tools_list=page), listing, tool="")

        assert found == (Tool(name="a", title="A", input_schema={}), Tool(name="b", output_schema={"type": "object"}))


@pytest.mark.parametrize(
    "listed",
    [
        lambda request: result(request, {"tools": [], "nextCursor": "again"}),
        lambda request: result(request, {"tools": "all"}),
        lambda request: error(request, -32601, 404),
        lambda request: response(500, b""),
    ],
)
def test_a_server_that_lists_no_tools_is_told_apart(listed: Callable[[Request], bytes]) -> None:
    """What it did instead is the observation."""

    async def listing(adapter: Mcp, skill: SkillRef) -> Any:
        return await adapter.tools(skill, deadline_s=5)

    found = against(Server(modern, tools_list=listed), listing, tool="")

    assert isinstance(found, Answered)
    assert not isinstance(found.reply, Value)


def test_a_modern_call_can_be_sent_again_and_again_and_one_in_a_session_cannot() -> None:
    """The latency probe gets the request only where there is one."""

    async def prepared(adapter: Mcp, skill: SkillRef) -> Any:
        with pytest.raises(NoHttpRequest):
            adapter.request(skill, {"message": "hi"})
        assert await adapter.prepare(skill, deadline_s=5) is None
        return adapter.request(skill, {"message": "hi"})

    request = against(Server(modern), prepared)

    headers = {name.lower(): value for name, value in request.headers}
    assert request.method == "POST"
    assert headers["mcp-name"] == "echo"
    assert headers["accept"] == "application/json, text/event-stream"
    assert len([name for name, _ in request.headers if name.lower() == "accept"]) == 1
    assert headers["content-length"] == str(len(request.body))
    assert request.read(b'{"jsonrpc":"2.0","id":1,"result":{"structuredContent":5}}') == Value(5)
    with pytest.raises(NoHttpRequest):
        against(Server(old), prepared)


def test_a_server_that_cannot_be_met_is_told_before_it_is_timed() -> None:
    """What it did instead of answering comes back."""

    async def prepare(adapter: Mcp, skill: SkillRef) -> Any:
        return await adapter.prepare(skill, deadline_s=5)

    found = against(Server(lambda request: response(401, b"")), prepare)

    assert isinstance(reply_of(found), Refused)


@pytest.mark.parametrize(
    "options", [{"tool": ""}, {"tool": 3}, {"tol": "x"}, {"headers": {"Mcp-Name": "x"}}, {"headers": {"X": "a\r\nb"}}]
)
def test_options_that_cannot_be_used_are_our_own_mistake(options: dict[str, Any]) -> None:
    """No tool, an unknown option, a header that is the protocol's or none at all."""
    server = Server(modern)

    with pytest.raises(BadJob):
        against(server, one_call, **options)

    assert server.asked == []


def test_headers_of_the_access_go_with_every_request() -> None:
    """Also with the first question."""
    server = Server(old)

    against(server, one_call, headers={"X-Region": "eu"})

    assert {request.header("x-region") for _, request in server.asked} == {"eu"}


def test_a_session_that_nobody_uses_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker lives long; what it left open would cost the server its memory."""
    monkeypatch.setattr(_mcp_servers, "IDLE_S", 0.0)
    monkeypatch.setattr(_mcp_servers, "SWEEP_S", 0.01)
    server = Server(old)

    async def call_and_wait(adapter: Mcp, skill: SkillRef) -> Observation:
        await one_call(adapter, skill)
        async with asyncio.timeout(5):
            await server.ended.wait()
        return await one_call(adapter, skill)

    assert reply_of(against(server, call_and_wait)) == Value("hi")
    assert server.sessions == 2
