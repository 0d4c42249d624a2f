"""MCP over streamable HTTP: each request a POST of its own, answered by a JSON body or an event stream.

An event stream is read up to the answer, since a server may keep it open; what came over it is kept as the JSON list of
its messages, so that whoever looks into a body always finds JSON.

Source: Model Context Protocol specification, 2026-07-28, streamable HTTP: request metadata, custom headers from tool
parameters, value encoding, backward compatibility; 2025-11-25, session management.
"""

from __future__ import annotations

import base64
import itertools
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx
import msgspec

from workers.adapters import _body, _event_stream, _json, _json_rpc, _mcp, _mcp_tools
from workers.adapters._deadline import Deadline
from workers.adapters._event_stream import EventStream
from workers.adapters._json_rpc import Fault, NotAResponse, Success
from workers.adapters._mcp import Exchanged, ToolOptions
from workers.adapters._post import Exchanges
from workers.adapters._target import Auth, Headers, Target, options_of, url_of
from workers.faults import BadJob, FleetFault
from workers.observation import Answered, Malformed, Reply
from workers.wire.skill import Access, SkillRef

ACCEPT = "application/json, text/event-stream"
SESSION = "Mcp-Session-Id"
MIRRORED = 32
LEVELS = 8
SAFE_INTEGER = 2**53 - 1
CLOSE_S = 3.0

_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_SESSION_ID = re.compile(r"[\x21-\x7e]{1,1024}")
_PROTOCOL = ("accept", "mcp-")

# Who may not ask at all, or not now, is told nothing of the protocol.
_UNDECIDED = frozenset({401, 402, 403, 407, 421, 429, 502, 503, 504})


class Options(ToolOptions, frozen=True, forbid_unknown_fields=True):
    """*headers* go with every request; a secret is no header but *auth*."""

    auth: Auth | None = None
    headers: Mapping[str, str] = {}


class Site:
    """The access to one server, parsed once a process."""

    def __init__(self, access: Access, agent: str) -> None:
        options = options_of(access, Options)
        for name, value in options.headers.items():
            if not _TOKEN.fullmatch(name) or not _PLAIN.fullmatch(value) or name.lower().startswith(_PROTOCOL):
                raise BadJob(f"mcp access options: {name[:80]!r} cannot be a header of its own")
        self.target = Target(url_of(access.endpoint), options.auth, agent, tuple(options.headers.items()))

    def read(self, body: bytes) -> Reply:
        """What a 2xx body comes to that holds no answer; the line reads those that do."""
        return Malformed("neither JSON nor an event stream with the answer in it" if body else "no body")


class HttpLine:
    """A `Line` over HTTP: a caller's session where the server has sessions.

    *streams*: the server gave its last answer as an event stream.
    """

    def __init__(self, exchanges: Exchanges[Site], skill: SkillRef, caller: str) -> None:
        self._exchanges = exchanges
        self._skill = skill
        self._site = exchanges.form(skill)
        self._caller = caller
        self._session = ""
        self._ids = itertools.count(1)
        self.version = ""
        self.discover_s = math.inf
        self.streams = False

    async def ask(
        self, method: str, params: dict[str, Any], deadline: Deadline, *, schema: Mapping[str, Any] | None = None
    ) -> Exchanged:
        """Send a request and wait for its response; *schema* is the input schema of the tool that is called."""
        request_id = next(self._ids)

        async def read(headers: httpx.Headers, chunks: AsyncIterator[bytes]) -> bytes:
            self.streams = _is_stream(headers.get("content-type", ""))
            return await _received(headers, chunks, request_id, stream=self.streams)

        body = _json_rpc.request(method, params, request_id)
        headers = self._headers(method, params, schema or {})
        observation = await self._exchanges.post(
            self._skill, self._site, body, deadline, self._caller, headers=headers, read=read
        )
        if not isinstance(observation, Answered):
            return Exchanged(observation=observation)
        try:
            answer = response_in(observation.body, request_id)
            if method == "initialize":
                self._session = session_id(observation.headers)
        except NotAResponse as error:
            if isinstance(observation.reply, Malformed) and 200 <= observation.status < 300:
                observation = msgspec.structs.replace(observation, reply=Malformed(str(error)))
            return Exchanged(observation=observation)
        return Exchanged(observation=observation, answer=answer)

    async def tell(self, method: str, deadline: Deadline) -> None:
        """Send a notification."""
        body = _json_rpc.request(method, None, None)
        headers = self._headers(method, {}, {})
        await self._exchanges.post(self._skill, self._site, body, deadline, self._caller, headers=headers)

    def undecided(self, exchanged: Exchanged) -> bool:
        """Whether the server was not reached, or did not let us ask."""
        observation = exchanged.observation
        return not isinstance(observation, Answered) or (exchanged.answer is None and observation.status in _UNDECIDED)

    def lost(self, exchanged: Exchanged) -> bool:
        """Whether the session has ended: 404 by the specification, 400 and a word about it in widely used servers."""
        observation, answer = exchanged.observation, exchanged.answer
        if not self._session or not isinstance(observation, Answered) or observation.status not in (400, 404):
            return False
        if isinstance(answer, Fault) and observation.status == 400:
            return answer.code in (-32000, -32001, -32600) and "session" in answer.message.lower()
        return observation.status == 404

    async def reopen(self) -> None:
        """Forget the session."""
        await self.close()
        self._session = ""

    async def close(self) -> None:
        """Tell the server that the session is over; what it says to that does not matter."""
        if not self._session:
            return
        headers = self._headers("", {}, {})
        self._session = ""
        try:
            await self._exchanges.post(
                self._skill, self._site, b"", Deadline(CLOSE_S), self._caller, headers=headers, method="DELETE"
            )
        except (FleetFault, BadJob):
            return

    def headers(self, method: str, params: Mapping[str, Any], schema: Mapping[str, Any]) -> Headers:
        """All headers of a request but its length."""
        own = self._headers(method, params, schema)
        replaced = {name.lower() for name, _ in own}
        return (*((name, value) for name, value in self._site.target.headers if name.lower() not in replaced), *own)

    @property
    def url(self) -> str:
        """Where the requests go."""
        return str(self._site.target.url)

    def _headers(self, method: str, params: Mapping[str, Any], schema: Mapping[str, Any]) -> Headers:
        headers: Headers = (("Accept", ACCEPT),)
        if method == "initialize":
            return headers
        if self.version in ("", _mcp.MODERN):
            return (*headers, *modern_headers(method, params, schema))
        headers = (*headers, ("MCP-Protocol-Version", self.version))
        return (*headers, (SESSION, self._session)) if self._session else headers


def modern_headers(method: str, params: Mapping[str, Any], schema: Mapping[str, Any]) -> Headers:
    """The headers of a modern request; *schema* is the tool's input schema, whose marked inputs are mirrored."""
    headers = [("MCP-Protocol-Version", _mcp.MODERN), ("Mcp-Method", method)]
    if method == "tools/call":
        headers.append(("Mcp-Name", encoded(params["name"])))
        headers += itertools.islice(mirrored(schema, params["arguments"]), MIRRORED)
    return tuple(headers)


def session_id(headers: Headers) -> str:
    """The session that an answer to ``initialize`` opens; empty if it opens none.

    Raises:
        NotAResponse: If it cannot be sent back.
    """
    found = next((value for name, value in headers if name.lower() == SESSION.lower()), "")
    if found and not _SESSION_ID.fullmatch(found):
        raise NotAResponse(f"its {SESSION} is not made of visible ASCII characters")
    return found


def encoded(value: str) -> str:
    """*value* as a header takes it: as it is, or in base64 where that would not be safe."""
    if _PLAIN.fullmatch(value) and not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def mirrored(schema: Any, arguments: Any, level: int = 0) -> Iterator[tuple[str, str]]:
    """The headers that repeat those *arguments* which *schema* marks with ``x-mcp-header``."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not isinstance(arguments, Mapping) or level == LEVELS:
        return
    for name, declared in properties.items():
        if not isinstance(declared, Mapping) or name not in arguments:
            continue
        value, token = arguments[name], declared.get("x-mcp-header")
        if isinstance(token, str) and _TOKEN.fullmatch(token) and (text := _text(value)) is not None:
            yield f"Mcp-Param-{token}", encoded(text)
        yield from mirrored(declared, value, level + 1)


def response_in(body: bytes, request_id: int) -> Success | Fault:
    """The response to *request_id* in *body*: JSON, a list of messages, or an event stream as it came.

    Raises:
        NotAResponse: If it holds none.
    """
    try:
        value = _json.decoded(body)
    except _json.NotJson as error:
        messages = _messages(body)
        if not messages:
            raise NotAResponse(f"neither JSON nor an event stream: {error}" if body else "no body") from error
        value = messages
    if not isinstance(value, list):
        return _json_rpc.response(value, request_id)
    for message in value:
        if _json_rpc.is_response(message, request_id):
            return _json_rpc.response(message, request_id)
    raise NotAResponse("an event stream without the answer in it")


def reply_in(body: bytes, request_id: int) -> Reply:
    """What *body* says of a tool's call."""
    try:
        return _mcp_tools.reply(response_in(body, request_id))
    except NotAResponse as error:
        return Malformed(str(error))


async def _received(headers: httpx.Headers, chunks: AsyncIterator[bytes], request_id: int, *, stream: bool) -> bytes:
    encoding = headers.get("content-encoding", "")
    if not stream:
        return await _body.read(chunks, encoding)
    events, messages = EventStream(encoding), []
    async for chunk in chunks:
        for data in events.feed(chunk):
            messages.append(_message(data))
            if _json_rpc.is_response(messages[-1], request_id):
                return _joined(messages)
    return _joined(messages)


def _joined(messages: list[Any]) -> bytes:
    return msgspec.json.encode(messages[0] if len(messages) == 1 else messages)


def _messages(body: bytes) -> list[Any]:
    """The messages of the event stream *body*, none if it is no such thing."""
    try:
        return [_message(data) for data in EventStream().feed(body + b"\n\n")]
    except _body.BadBody:
        return []


def _message(data: bytes) -> Any:
    """The JSON of an event's *data*, or its text where it is none."""
    try:
        return _json.decoded(data)
    except _json.NotJson:
        return data.decode(errors="replace")


def _is_stream(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == _event_stream.CONTENT_TYPE


def _text(value: Any) -> str | None:
    match value:
        case bool():
            return "true" if value else "false"
        case int() if abs(value) <= SAFE_INTEGER:
            return str(value)
        case str():
            return value
    return None
