"""``subprocess``: a program that is started for each call; one JSON-RPC 2.0 line in, one line out.

Its input ends after the request, as programs expect that read all of it first. Lines before the response are noise. The
clock starts when the program does; whether it answered well is known when it has ended: an exit code that tells of a
failure is one, whatever was answered before. A program that stays after its answer is ended.

Source: the guide "Creating a Custom Skill" of eval-skills (protocol), JSON-RPC 2.0 (messages).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from typing import Any

from workers.adapters import _json, _json_rpc
from workers.adapters._adapter import MAIN_CALLER, Adapter, HttpRequest, NoHttpRequest
from workers.adapters._body import BODY_BYTES
from workers.adapters._deadline import Deadline
from workers.adapters._json_rpc import Fault, NotAResponse
from workers.adapters._program import Secrets, program_of
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, Reply, Value
from workers.sandbox import child as sandbox
from workers.sandbox.child import Child
from workers.sandbox.program import Limits, NoProgram
from workers.wire.skill import SkillRef

STAY_S = 1.0
REQUEST_ID = 1
QUOTED_CHARS = 300
CPU_FACTOR = 4
"""CPU seconds for each second of the deadline: it may use several cores, and is ended by the clock anyway."""

# JSON-RPC keeps these codes to itself; the others are the program's own way to decline.
_RESERVED = range(-32768, -31999)


def open() -> Adapter:  # noqa: A001 - the name that every adapter module has
    """The adapter of this process."""
    return Subprocess()


class Subprocess:
    """Starts programs, no more at once than this machine has room for. Belongs to one event loop."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(2 * (os.cpu_count() or 1))

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = MAIN_CALLER
    ) -> Observation:
        """Start the program for this one call. Each is a process with a home of its own, so callers share nothing.

        Raises:
            FleetFault: If our own side failed.
            BadJob: If it may not be started, or cannot be on this machine.
        """
        program, secrets = program_of(skill)
        request = _json_rpc.request("invoke", inputs, REQUEST_ID) + b"\n"
        limits = Limits(cpu_s=int(CPU_FACTOR * deadline_s) + 10)
        async with self._room:
            try:
                child = await sandbox.start(program, limits)
            except NoProgram as error:
                return Broke(reason=str(error), elapsed_ms=0.0)
            try:
                return await _Call(child, secrets, deadline_s).observe(request)
            finally:
                await child.aclose()

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        """Not to be had.

        Raises:
            NoHttpRequest: Always.
        """
        raise NoHttpRequest("a program is started for each call; no HTTP request is sent")

    async def aclose(self) -> None:
        """Nothing is kept open between calls."""


class _Call:
    def __init__(self, child: Child, secrets: Secrets, deadline_s: float) -> None:
        self._child = child
        self._secrets = secrets
        self._deadline_s = deadline_s
        self._output = bytearray()

    async def observe(self, request: bytes) -> Observation:
        """Send *request* and say what the program did."""
        deadline = Deadline(self._deadline_s, self._child.started)
        writing = asyncio.ensure_future(self._child.write(request, last=True))
        try:
            async with deadline.limit():
                response = await self._response()
                elapsed_ms = self._elapsed_ms()
                if response is None:
                    return await self._none(elapsed_ms)
        except TimeoutError:
            return deadline.missed()
        finally:
            writing.cancel()
        return self._answered(response, elapsed_ms, await self._ending())

    async def _response(self) -> Any:
        """The response among the lines of the output; None where it ends, or is too long, without one."""
        begun = 0
        while piece := await self._child.read():
            self._output += piece
            if len(self._output) > BODY_BYTES:
                return None
            whole = self._output.rfind(b"\n") + 1
            for line in bytes(self._output[begun:whole]).splitlines():
                response = self._response_in(line)
                if response is not None:
                    return response
            begun = whole
        # The last line without an end, or one response written over several lines.
        rest = self._response_in(bytes(self._output[begun:]))
        return rest if rest is not None else self._response_in(bytes(self._output))

    async def _ending(self) -> str:
        try:
            async with asyncio.timeout(STAY_S):
                return await self._child.ending()
        except TimeoutError:
            return ""

    async def _none(self, elapsed_ms: float) -> Observation:
        """What a program came to that gave no response."""
        if len(self._output) > BODY_BYTES:
            return Broke(reason=f"an output of more than {BODY_BYTES} bytes", elapsed_ms=elapsed_ms)
        ending = await self._child.ending()
        if ending:
            return self._made(Failed(f"no answer, and {ending}{self._errors()}"), elapsed_ms)
        said = (
            self._secrets.body(bytes(self._output))[: 4 * QUOTED_CHARS]
            .decode("utf-8", "replace")
            .strip()[:QUOTED_CHARS]
        )
        told = f"; it wrote {said!r}" if said else "; it wrote nothing"
        return self._made(Malformed(f"no JSON-RPC response among the lines of its output{told}"), elapsed_ms)

    def _answered(self, response: Any, elapsed_ms: float, ending: str) -> Observation:
        if ending:
            return self._made(Failed(f"it answered, but {ending}{self._errors()}"), elapsed_ms)
        try:
            answer = _json_rpc.response(response, REQUEST_ID)
        except NotAResponse as error:
            return self._made(Malformed(str(error)), elapsed_ms)
        if not isinstance(answer, Fault):
            return self._made(Value(answer.result), elapsed_ms)
        if answer.code in _RESERVED or 500 <= answer.code < 600:
            return self._made(answer.reply, elapsed_ms)
        return self._made(Refused(f"JSON-RPC error {answer.code}: {answer.message}"), elapsed_ms)

    def _made(self, reply: Reply, elapsed_ms: float) -> Answered:
        """The observation; what the program wrote to stderr stands where headers would."""
        errors = self._secrets.text(self._child.errors)
        return Answered(
            status=200 if isinstance(reply, Value) else 0,
            headers=(("stderr", errors),) if errors else (),
            body=self._secrets.body(bytes(self._output)),
            elapsed_ms=elapsed_ms,
            reply=reply,
        )

    def _errors(self) -> str:
        words = " ".join(self._secrets.text(self._child.errors).split())
        return f"; stderr ends with: {words[-QUOTED_CHARS:]}" if words else ""

    def _response_in(self, line: bytes) -> Any:
        """The object of *line*, without our secrets, if it means to be a response; else None."""
        line = line.strip()
        if not line.startswith((b"{", b"\xef\xbb\xbf{")):
            return None
        try:
            value = _json.decoded(self._secrets.body(line))
        except _json.NotJson:
            return None
        return value if isinstance(value, dict) and ("result" in value or "error" in value) else None

    def _elapsed_ms(self) -> float:
        return (time.monotonic() - self._child.started) * 1000
