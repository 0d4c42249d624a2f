"""A real server behind every live format, and the catalog that names it: all of them count the words of a text."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOKEN = "f0rmats/s3cret+token"
PUBLISHED = {
    "version": "1.0.0",
    "description": "Counts the words of a text in any language, blanks apart.",
    "author": "Ada",
    "failure_modes": [
        {"condition": "no text", "behaviour": "answers with status 400"},
        {"condition": "overload", "behaviour": "closes the connection"},
        {"condition": "too many requests", "behaviour": "answers with status 429"},
    ],
    "dependencies": [],
    "permissions": [],
    "scope": "Counting words.",
    "data_handling": "Nothing is kept or passed on.",
    "test_timeout_ms": 10_000,
}
TEXT = {"name": "text", "type": "string", "description": "what to count", "example": "one two"}
WORDS = {"name": "words", "type": "integer", "description": "how many"}
CASES = [{"name": "two", "input": {"text": "one two"}, "expected": {"words": 2}}]

TAKES = {
    "type": "object",
    "required": ["text"],
    "additionalProperties": False,
    "properties": {"text": {"type": "string", "description": "what to count", "examples": ["one two"]}},
}
TOOL = {"name": "count", "description": "Counts the words of a text.", "inputSchema": TAKES}


class Refused(Exception):
    """The call is not what is declared."""


class Formats(ThreadingHTTPServer):
    """Listens on 127.0.0.1; *tokens* are the Authorization headers that the guarded skill saw."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.tokens: set[str] = set()
        self.tasks: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024
    server: Formats

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body: bytes | None) -> None:
        try:
            status, reply = 200, self._reply(body)
        except (Refused, ValueError, KeyError, TypeError) as error:
            status, reply = 400, {"error": type(error).__name__}
        except PermissionError:
            status, reply = 401, {"error": "who are you?"}
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _reply(self, body: bytes | None) -> Any:
        if body is None:
            return task("TASK_STATE_COMPLETED", self.server.tasks[self.path.rpartition("/")[2]])
        sent = json.loads(body)
        match self.path.partition("?")[0]:
            case "/count":
                return {"words": words(sent)}
            case "/guarded":
                given = self.headers.get("Authorization", "")
                self.server.tokens.add(given)
                if TOKEN not in given:
                    raise PermissionError
                return {"words": words(sent), "you": given}
            case "/eval/count":
                return {"words": words(sent["input"])}
            case "/v1/chat/completions":
                said = f"{len(sent['messages'][0]['content'].split())} words"
                return {"choices": [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]}
            case "/mcp":
                return {"jsonrpc": "2.0", "id": sent["id"], "result": self._mcp(sent["method"], sent["params"])}
            case "/a2a/new":
                return {"jsonrpc": "2.0", "id": sent["id"], "result": self._new(sent["method"], sent["params"])}
            case "/a2a/old":
                said = sent["params"]["message"]["parts"][0]["text"]
                part = {"kind": "text", "text": f"{len(said.split())} words"}
                message = {"kind": "message", "role": "agent", "messageId": "m", "parts": [part]}
                return {"jsonrpc": "2.0", "id": sent["id"], "result": message}
            case "/a2a/rest/message:send":
                return self._new("SendMessage", sent)
        raise Refused

    def _new(self, method: str, params: dict[str, Any]) -> Any:
        """A task that is never finished at once."""
        if method == "GetTask":
            return task("TASK_STATE_COMPLETED", self.server.tasks[params["id"]])
        message = params["message"]
        self.server.tasks[message["messageId"]] = f"{len(message['parts'][0]['text'].split())} words"
        return {"task": task("TASK_STATE_WORKING", task_id=message["messageId"])}

    def _mcp(self, method: str, params: dict[str, Any]) -> Any:
        """A server of the generation without sessions, with one tool."""
        if method == "tools/list":
            return {"tools": [{**TOOL, "outputSchema": {"type": "object", "properties": {"words": {}}}}]}
        if method == "tools/call":
            try:
                return {"content": [], "structuredContent": {"words": words(params["arguments"])}}
            except Refused:
                return {"content": [{"type": "text", "text": "text: one text is wanted"}], "isError": True}
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is inherited
        pass


def words(sent: Any) -> int:
    if not isinstance(sent, dict) or sent.keys() != {"text"} or not isinstance(sent["text"], str) or not sent["text"]:
        raise Refused
    return len(sent["text"].split())


def task(state: str, *texts: str, task_id: str = "t") -> dict[str, Any]:
    artifacts = [{"artifactId": "a", "parts": [{"text": text}]} for text in texts]
    return {"id": task_id, "contextId": "c", "status": {"state": state}, "artifacts": artifacts}


@contextmanager
def served() -> Iterator[Formats]:
    """The server, for as long as the context lasts."""
    with Formats() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def card(name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Counts the words of what it is told.",
        "version": "1.0.0",
        "provider": {"organization": "Ada", "url": "https://ada.example"},
        "capabilities": {},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "count", "name": "Count", "description": "Counts.", "tags": [], "examples": ["one two"]}],
        **more,
    }


def interface(url: str, binding: str) -> dict[str, Any]:
    return {"supportedInterfaces": [{"url": url, "protocolBinding": binding, "protocolVersion": "1.0"}]}


def write_catalog(root: Path, url: str) -> Path:
    """The folder *root* with one entry of every format at *url*, and some that are none."""
    sxm = {**PUBLISHED, "inputs": [TEXT], "outputs": [WORDS], "test_cases": CASES}
    files: dict[str, Any] = {
        "sxm/sxm-manifest.json": {**sxm, "name": "Counter", "test_endpoint": f"{url}/count"},
        "sxm-lines/skillmark.json": {
            **PUBLISHED, "name": "Lines", "test_endpoint": f"{url}/count", "inputs": ["text: what to count"],
            "outputs": ["words (integer)"],
            "failure_modes": ["no text -> answers with status 400", "overload -> closes the connection"],
        },
        "guarded/skillmark.json": {
            **sxm, "name": "Guarded", "test_endpoint": f"{url}/guarded",
            "auth": {"type": "bearer", "token": "env:FORMATS_TOKEN"}, "test_cases": [],
            "outputs": [WORDS, {"name": "you", "type": "string", "description": "the caller"}],
        },
        "eval/skill.json": {
            "id": "eval-counter", "name": "Eval counter", "version": "1.0.0", "description": PUBLISHED["description"],
            "adapterType": "http", "entrypoint": "count", "metadata": {"author": "Ada"},
            "inputSchema": TAKES,
            "outputSchema": {"type": "object", "required": ["words"], "properties": {"words": {"type": "integer"}}},
        },
        "eval/adapter.config.json": {"type": "http", "baseUrl": f"{url}/eval", "timeoutMs": 10_000},
        "chat/skillmark.json": {
            **sxm, "name": "Talker", "test_endpoint": f"{url}/v1/chat/completions", "model": "counter",
            "outputs": [{"name": "answer", "type": "string", "description": "how many words"}],
            "test_cases": [{"name": "two", "input": {"text": "one two"}, "expected": {"answer": "2 words"}}],
        },
        "agent-rpc/agent-card.json": card("New agent", **interface(f"{url}/a2a/new", "JSONRPC")),
        "agent-http/agent-card.json": card("Plain agent", **interface(f"{url}/a2a/rest", "HTTP+JSON")),
        "agent-old/agent-card.json": card("Old agent", url=f"{url}/a2a/old", protocolVersion="0.3.0"),
        "mcp/server.json": {
            "name": "example.ada/words", "description": "Counts words.", "version": "1.0.0",
            "remotes": [{"type": "streamable-http", "url": f"{url}/mcp"}],
        },
        "word-counting/SKILL.md": "---\nname: word-counting\ndescription: How to count words, and when.\n---\nCount.\n",
        "broken/agent/agent-card.json": card("No way in", **interface(f"{url}/a2a/grpc", "GRPC")),
        "broken/chat/skillmark.json": {**sxm, "name": "No model", "test_endpoint": f"{url}/v1/chat/completions"},
        "broken/mute/SKILL.md": "---\nname: another-name\ndescription: x\n---\n",
        "broken/none/skill.json": "{",
    }  # fmt: skip
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return root
