"""MCP over stdio: a server that is a program, one JSON-RPC message a line, on its stdin and stdout.

Started when the first request needs it and kept for the ones that follow. One that dies in the middle of a call has
failed that call; the next one starts it again. Lines that are no message are left alone, as is what it writes to
stderr, but for the end of it, which says why a server that is gone went.

Source: Model Context Protocol specification, 2026-07-28 and 2025-11-25, stdio.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from workers.adapters import _json, _json_rpc
from workers.adapters._body import BODY_BYTES
from workers.adapters._deadline import Deadline
from workers.adapters._installed import located
from workers.adapters._json_rpc import NotAResponse
from workers.adapters._mcp import Exchanged, Line, ToolOptions
from workers.adapters._program import Secrets, prepared
from workers.adapters._target import json_body, options_of
from workers.faults import FleetFault
from workers.observation import Answered, Broke, Malformed, Observation
from workers.sandbox import child as sandbox
from workers.sandbox import consent
from workers.sandbox.child import Child
from workers.sandbox.program import Limits, NoProgram, Program
from workers.wire.skill import SkillRef

DISCOVER_S = 10.0
LEAVE_S = 0.5
UNANSWERED_BYTES = 16 << 20
QUOTED_CHARS = 300
METHOD_NOT_FOUND = -32601


class Options(ToolOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As `_program.ProgramOptions`."""

    command: tuple[str, ...]
    folder: str
    variables: Mapping[str, str] = {}


def open_line(skill: SkillRef, caller: str) -> Line:
    """The line of one caller to the server of *skill*: a process of his own, started by the first request.

    Raises:
        BadJob: If it may not be started, the options are not what is taken, or a secret is not to be had.
    """
    consent.check(skill)
    options = options_of(skill.access, Options)
    return StdioLine(*prepared(options.command, options.folder, options.variables))


class _Waiting(Struct):
    """A request on its way."""

    answer: asyncio.Future[tuple[bytes, float]]
    """The line, and when it came."""
    sent: float


class _Gone(Exception):
    """The server ended, or broke a limit of ours; the message says how. *before*: when it was asked it was gone."""

    def __init__(self, reason: str, *, before: bool = False) -> None:
        super().__init__(reason)
        self.before = before


class StdioLine:
    """A `Line` to a program. Belongs to one event loop."""

    def __init__(self, program: Program, secrets: Secrets) -> None:
        self.version = ""
        self.discover_s = DISCOVER_S
        self._program = program
        self._secrets = secrets
        self._ids = itertools.count(1)
        self._starting = asyncio.Lock()
        self._server: _Server | None = None
        self._lost: Observation | None = None

    async def ask(
        self, method: str, params: dict[str, Any], deadline: Deadline, *, schema: Mapping[str, Any] | None = None
    ) -> Exchanged:
        """Send a request and wait for its response."""
        request_id = next(self._ids)
        message = _json_rpc.request(method, params, request_id)
        try:
            async with deadline.limit():
                server = await self._running()
                body, elapsed_ms = await server.ask(request_id, message)
        except TimeoutError:
            return Exchanged(observation=deadline.missed())
        except NoProgram as error:
            return Exchanged(observation=Broke(reason=str(error), elapsed_ms=0.0))
        except _Gone as gone:
            broke = Broke(reason=self._secrets.text(str(gone)), elapsed_ms=deadline.elapsed_ms())
            if gone.before:
                self._lost = broke  # not this request's doing
            return Exchanged(observation=broke)
        body = self._secrets.body(body)
        try:
            answer, reason = _json_rpc.response(_json.decoded(body), request_id), "the answer is not read yet"
        except (NotAResponse, _json.NotJson) as error:
            answer, reason = None, str(error)
        observation = Answered(status=200, headers=(), body=body, elapsed_ms=elapsed_ms, reply=Malformed(reason))
        return Exchanged(observation=observation, answer=answer)

    async def tell(self, method: str, deadline: Deadline) -> None:
        """Send a notification; one that the server does not take any more is no loss."""
        with suppress(TimeoutError, NoProgram, _Gone):
            async with deadline.limit():
                await (await self._running()).send(_json_rpc.request(method, None, None))

    def undecided(self, exchanged: Exchanged) -> bool:
        """Never: an older server may be silent to a question that it does not know, or end over it."""
        return False

    def lost(self, exchanged: Exchanged) -> bool:
        """Whether the server had ended by the time when it was asked."""
        return self._lost is not None and exchanged.observation is self._lost

    async def reopen(self) -> None:
        """End the process; the next request starts another."""
        server, self._server = self._server, None
        if server is not None:
            await server.aclose()

    async def close(self) -> None:
        """End the process."""
        await self.reopen()

    async def _running(self) -> _Server:
        async with self._starting:
            if self._server is None:
                program = await asyncio.to_thread(located, self._program)
                if program is not self._program:
                    program = msgspec.structs.replace(program, folder="")  # a package is at home nowhere in particular
                self._server = _Server(await sandbox.start(program, Limits()))
            return self._server


class _Server:
    """The process behind a line."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._waiting: dict[int, _Waiting] = {}
        self._gone = ""
        self._left = False
        self._received = 0
        self._writing = asyncio.Lock()
        self._reading = asyncio.ensure_future(self._read())

    async def ask(self, request_id: int, message: bytes) -> tuple[bytes, float]:
        """The line that answers *message*, and how many milliseconds it took.

        Raises:
            _Gone: If the process ends instead, or has ended.
        """
        if self._gone:
            raise _Gone(self._gone, before=True)
        received = self._received
        waiting = _Waiting(asyncio.get_running_loop().create_future(), time.perf_counter())
        self._waiting[request_id] = waiting
        try:
            await self.send(message)
            body, came = await waiting.answer
        except _Gone as gone:
            # It had left in peace when this was sent, and we had not noticed; as with a connection that was idle.
            raise _Gone(str(gone), before=self._left and self._received == received) from None
        finally:
            del self._waiting[request_id]
        return body, (came - waiting.sent) * 1000

    async def send(self, message: bytes) -> None:
        """Write one line."""
        async with self._writing:
            await self._child.write(message + b"\n")

    async def aclose(self) -> None:
        """End the process; its input ends a moment before, as a well-behaved server wants to be told."""
        if not self._gone:
            with suppress(TimeoutError, FleetFault):
                async with asyncio.timeout(LEAVE_S):
                    await self._child.write(b"", last=True)
                    await self._child.ending()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._end("it was ended")
        await self._child.aclose()

    async def _read(self) -> None:
        pending, unanswered = bytearray(), 0
        reason = ""
        try:
            while piece := await self._child.read():
                pending += piece
                self._received += len(piece)
                unanswered += len(piece)
                whole = pending.rfind(b"\n") + 1
                for line in bytes(pending[:whole]).splitlines():
                    if await self._take(line):
                        unanswered = 0
                del pending[:whole]
                if len(pending) > BODY_BYTES or unanswered > UNANSWERED_BYTES:
                    reason = f"it wrote more than {max(len(pending), unanswered) >> 20} MiB without an answer"
                    break
            self._end(reason or f"the server ended{await self._why()}")
        except FleetFault as fault:
            self._end("", fault)

    async def _why(self) -> str:
        ending = await self._child.ending()
        self._left = not ending
        words = " ".join(self._child.errors.split())
        told = f"; stderr ends with: {words[-QUOTED_CHARS:]}" if words else ""
        return f" ({ending or 'exit code 0'}){told}"

    async def _take(self, line: bytes) -> bool:
        """Take in one message; whether it answers a request."""
        try:
            message = _json.decoded(line)
        except _json.NotJson:
            return False
        if not isinstance(message, dict):
            return False
        if isinstance(message.get("method"), str):
            if "id" in message:
                await self.send(_declined(message))
            return False
        number = message.get("id")
        if number is None and len(self._waiting) == 1:
            number = next(iter(self._waiting))  # an error about a request that it could not read
        waiting = self._waiting.get(number) if isinstance(number, int) and not isinstance(number, bool) else None
        if waiting is None or waiting.answer.done():
            return False
        waiting.answer.set_result((line, time.perf_counter()))
        return True

    def _end(self, reason: str, fault: FleetFault | None = None) -> None:
        self._gone = self._gone or reason or "it is gone"
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(fault or _Gone(self._gone))


def _declined(message: dict[str, Any]) -> bytes:
    """The answer to a request of the server's own: ``ping`` is answered, anything else is not offered here."""
    head = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "ping":
        return json_body({**head, "result": {}})
    return json_body({**head, "error": {"code": METHOD_NOT_FOUND, "message": "not offered by this client"}})
