"""``a2a``: an agent that speaks the Agent2Agent protocol: 1.0 over JSON-RPC or HTTP+JSON, 0.3 over JSON-RPC.

Each call is a conversation of its own: one message, which asks the agent to wait until it is done. An agent that
answers with an unfinished task all the same is asked for it again, until the deadline. What is sent is of the
generation that the card names; answers are read in both (`_a2a_answers`).

There is no one request that a latency probe could send again and again: an agent may take a second message of the same
id for a redelivery of the first, and an answer may take several requests.

Source: A2A protocol specification 1.0 (JSON-RPC and HTTP+JSON bindings; errors) and 0.3.0 (JSON-RPC).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote

import msgspec
from msgspec import Struct

from workers.adapters import _a2a_answers, _json, _json_rpc
from workers.adapters._a2a_answers import QUOTED_CHARS, Unfinished
from workers.adapters._adapter import MAIN_CALLER, Adapter, HttpRequest, NoHttpRequest
from workers.adapters._deadline import Deadline
from workers.adapters._message import message
from workers.adapters._post import Exchanges
from workers.adapters._target import Auth, Target, json_body, options_of, url_of
from workers.faults import BadJob
from workers.observation import Answered, Failed, Malformed, Observation, Refused, Reply
from workers.wire.skill import Access, SkillRef

AS_TEXT = True
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 2.0
REQUEST_ID = 1
MODES = ["text/plain", "application/json"]
# The agent cannot read what its card invites, or broke; any other code says that it declined the message.
BROKEN = frozenset({-32700, -32601, -32603, -32006, -32009})


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """*version* is the protocol's; *parts* says whether the inputs go as a text or as a data part."""

    version: Literal["1.0", "0.3"] = "1.0"
    binding: Literal["JSONRPC", "HTTP+JSON"] = "JSONRPC"
    tenant: str = ""
    parts: Literal["text", "data"] = "text"
    auth: Auth | None = None


def open() -> Adapter:  # noqa: A001 - the name that every adapter module has
    """The adapter of this process. Its connections are made when the first call needs them."""
    return Agents()


class Sending(Struct, frozen=True):
    """One request to an agent: a message or, *looks*, a question for the task that it began."""

    target: Target
    body: bytes
    method: str
    rpc: bool
    looks: bool = False

    def read(self, body: bytes) -> Reply:
        """The answer in *body*; an unfinished task is none."""
        found = self.found(body)
        return Malformed("a task that is not finished") if isinstance(found, Unfinished) else found

    def found(self, body: bytes) -> Reply | Unfinished:
        """What *body*, that of a 2xx answer, says."""
        try:
            value = _json.decoded(body)
        except _json.NotJson as error:
            return Malformed(f"no JSON body: {error}" if body else "no body")
        if not self.rpc:
            return _a2a_answers.read(value)
        try:
            answer = _json_rpc.response(value, REQUEST_ID)
        except _json_rpc.NotAResponse as error:
            return Malformed(str(error))
        if isinstance(answer, _json_rpc.Success):
            return _a2a_answers.read(answer.result)
        reason = f"the agent's error {answer.code}: {answer.message[:QUOTED_CHARS]}"
        return Failed(reason) if self.looks or answer.code in BROKEN else Refused(reason)


class Dialect:
    """How one agent is spoken to, in its generation of the protocol."""

    def __init__(self, access: Access, agent: str) -> None:
        self._options = options_of(access, Options)
        self._is_new = self._options.version == "1.0"
        self._rpc = self._options.binding == "JSONRPC"
        if not (self._is_new or self._rpc):
            raise BadJob("a2a access options: HTTP+JSON is spoken in version 1.0 only")
        extra = (("A2A-Version", self._options.version),) if self._is_new else ()
        self._target = Target(url_of(access.endpoint), self._options.auth, agent, extra)

    def message(self, inputs: Mapping[str, Any]) -> Sending:
        """The message that carries *inputs*."""
        as_text = self._options.parts == "text"
        part: dict[str, Any] = {"text": message(inputs)} if as_text else {"data": dict(inputs)}
        said: dict[str, Any] = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [part]}
        wait: dict[str, Any] = {"returnImmediately": False}
        if not self._is_new:
            part["kind"] = "text" if as_text else "data"
            said |= {"kind": "message", "role": "user"}
            wait = {"blocking": True}
        sent = self._tenanted({"message": said, "configuration": {"acceptedOutputModes": MODES, **wait}})
        if self._rpc:
            return self._call("SendMessage" if self._is_new else "message/send", sent)
        return Sending(self._under("message:send"), json_body(sent), "POST", rpc=False)

    def look(self, task: Unfinished) -> Sending:
        """The question for *task* as it is now."""
        if self._rpc:
            return self._call("GetTask" if self._is_new else "tasks/get", self._tenanted({"id": task.task_id}), True)
        return Sending(self._under("tasks", task.task_id), b"", "GET", rpc=False, looks=True)

    def _call(self, method: str, params: dict[str, Any], looks: bool = False) -> Sending:
        return Sending(self._target, _json_rpc.request(method, params, REQUEST_ID), "POST", rpc=True, looks=looks)

    def _tenanted(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"tenant": self._options.tenant, **params} if self._options.tenant else params

    def _under(self, *steps: str) -> Target:
        base = self._target.url
        path, separator, query = base.raw_path.decode("ascii").partition("?")
        tenant = (self._options.tenant,) if self._options.tenant else ()
        whole = "/".join((path.rstrip("/"), *(quote(step, safe=":") for step in (*tenant, *steps))))
        return self._target.at(base.copy_with(raw_path=f"{whole}{separator}{query}".encode()))


class Agents:
    """The adapter: a message, then as many looks at its task as it takes."""

    def __init__(self) -> None:
        self._exchanges = Exchanges(Dialect)

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = MAIN_CALLER
    ) -> Observation:
        """Send one message and wait for what comes of it; *deadline_s* covers everything.

        Raises:
            FleetFault, BadJob: As every adapter's.
        """
        dialect = self._exchanges.form(skill)
        deadline = Deadline(deadline_s)
        first = got, task = await self._send(skill, dialect.message(inputs), deadline, caller)
        waited_ms = _waited_ms(got)
        pause_s = FIRST_PAUSE_S
        while task is not None:
            if deadline.left_s() <= pause_s:
                await asyncio.sleep(max(deadline.left_s(), 0.0))
                return deadline.missed()
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, LONGEST_PAUSE_S)
            got, task = await self._send(skill, dialect.look(task), deadline, caller)
            waited_ms += _waited_ms(got)
        if got is first[0] or not isinstance(got, Answered):
            return got
        reply = got.reply
        if isinstance(reply, Refused) and got.status >= 400:
            reply = Failed(f"the agent does not give out the task that it began: {reply.reason}")
        elapsed_ms = max(deadline.elapsed_ms() - waited_ms, 0.0)
        return msgspec.structs.replace(got, reply=reply, elapsed_ms=elapsed_ms, waited_ms=waited_ms)

    async def _send(
        self, skill: SkillRef, sending: Sending, deadline: Deadline, caller: str
    ) -> tuple[Observation, Unfinished | None]:
        got = await self._exchanges.post(skill, sending, sending.body, deadline, caller, method=sending.method)
        if not isinstance(got, Answered) or not 200 <= got.status < 300:
            return got, None
        found = sending.found(got.body)
        return got, found if isinstance(found, Unfinished) else None

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        """There is none.

        Raises:
            NoHttpRequest: Always.
        """
        raise NoHttpRequest("a message to an agent is no request that could be sent again and again")

    async def aclose(self) -> None:
        """Close every connection."""
        await self._exchanges.aclose()


def _waited_ms(got: Observation) -> float:
    return got.waited_ms if isinstance(got, Answered) else 0.0
