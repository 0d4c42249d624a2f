"""The MCP servers that a process knows, and the lines to them: opened when asked for, ended when idle.

One line a server and caller. A line in use is never ended; one that nobody used for `IDLE_S` is, since a worker lives
long and a session or a process that is left behind costs the server, or us, its memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from workers.adapters import _mcp, _mcp_stdio
from workers.adapters._deadline import Deadline
from workers.adapters._json_rpc import Fault
from workers.adapters._mcp import Exchanged, Line
from workers.adapters._mcp_http import HttpLine, Site
from workers.adapters._post import Exchanges
from workers.observation import Answered, Failed, Malformed, Observation, Refused, TimedOut
from workers.wire.skill import SkillRef

KNOWN_SERVERS = 4_096
IDLE_S = 30.0
SWEEP_S = 5.0
START_S = 30.0
"""What a program gets to start in and to open its session, whatever its calls may take; once, if it misses that."""


class Stopped(Exception):
    """The server could not even be asked; what it did instead."""

    def __init__(self, observation: Observation) -> None:
        super().__init__()
        self.observation = observation


class _Held:
    """A caller's line, once it is open, and how many calls use it."""

    def __init__(self) -> None:
        self.line: Line | None = None
        self.lock = asyncio.Lock()
        self.users = 0
        self.used_at = 0.0


class Servers:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._http: Exchanges[Site] = Exchanges(Site)
        self._modern: dict[bytes, bool] = {}
        self._held: dict[tuple[bytes, str], _Held] = {}
        self._meeting: dict[bytes, asyncio.Lock] = {}
        self._never_started: set[bytes] = set()
        self._sweeping: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def line(self, skill: SkillRef, caller: str, deadline: Deadline) -> AsyncIterator[Line]:
        """The line of *caller* to the server of *skill*, ready for requests.

        *deadline* begins anew where a program had to be started first: a call is not slow because its server is young.

        Raises:
            Stopped: If the server does not let itself be asked.
            FleetFault, BadJob: As every `Line` does.
        """
        if self._sweeping is None:
            self._sweeping = asyncio.ensure_future(self._sweep())
        key = (_server_of(skill), caller)
        held = self._held.setdefault(key, _Held())
        held.users += 1
        starts = held.line is None and skill.access.is_program and key[0] not in self._never_started
        opening = Deadline(max(START_S, deadline.total_s)) if starts else deadline
        try:
            try:
                async with opening.limit(), held.lock:
                    if held.line is None:
                        held.line = await self._opened(skill, caller, opening)
            except TimeoutError:
                raise Stopped(opening.missed()) from None
            if starts:
                deadline.restart()
            yield held.line
        except Stopped as stopped:
            if starts and isinstance(stopped.observation, TimedOut):
                self._note_missed(key[0])
            raise
        finally:
            held.users -= 1
            held.used_at = asyncio.get_running_loop().time()

    def known(self, skill: SkillRef, caller: str) -> Line | None:
        """The line of *caller* to the server of *skill*, if it is open."""
        held = self._held.get((_server_of(skill), caller))
        return held.line if held else None

    async def forget(self, skill: SkillRef, caller: str, line: Line) -> None:
        """Let the next request be sent over another line than *line*, which is lost."""
        held = self._held.get((_server_of(skill), caller))
        if held is not None and held.line is line:
            held.line = None
            await line.close()

    async def aclose(self) -> None:
        """End every line and close every connection."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeping
        held, self._held = list(self._held.values()), {}
        await asyncio.gather(*(one.line.close() for one in held if one.line is not None))
        await self._http.aclose()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            now = asyncio.get_running_loop().time()
            idle = [key for key, one in self._held.items() if not one.users and now - one.used_at > IDLE_S]
            lines = [self._held.pop(key).line for key in idle]
            await asyncio.gather(*(line.close() for line in lines if line is not None))

    def _note_missed(self, server: bytes) -> None:
        if len(self._never_started) >= KNOWN_SERVERS:
            self._never_started.clear()
        self._never_started.add(server)

    async def _opened(self, skill: SkillRef, caller: str, deadline: Deadline) -> Line:
        """A new line of the generation that the server speaks."""
        server = _server_of(skill)
        line = self._new(skill, caller)
        try:
            async with self._meeting.setdefault(server, asyncio.Lock()):
                if server not in self._modern:
                    modern = await _speaks_modern(line, deadline)
                    if len(self._modern) >= KNOWN_SERVERS:
                        self._modern.clear()
                        self._meeting.clear()
                    self._modern[server] = modern
                    return line
            if self._modern[server]:
                line.version = _mcp.MODERN
            else:
                await _open_session(line, deadline)
        except Stopped:
            self._modern.pop(server, None)  # it may speak another generation by now
            await line.close()
            raise
        except BaseException:
            await line.close()
            raise
        return line

    def _new(self, skill: SkillRef, caller: str) -> Line:
        if skill.access.is_program:
            return _mcp_stdio.open_line(skill, caller)
        return HttpLine(self._http, skill, caller)


async def _speaks_modern(line: Line, deadline: Deadline) -> bool:
    """Whether the server speaks the modern protocol; *line* is ready for requests then, whichever it speaks.

    Raises:
        Stopped: If nothing can be found out.
    """
    patience = deadline if deadline.left_s() <= line.discover_s else Deadline(line.discover_s)
    asked = await line.ask("server/discover", _mcp.with_meta({}), patience)
    if line.undecided(asked):
        raise Stopped(asked.observation)
    if asked.answer is None or _mcp.means_legacy(asked.answer):
        await line.reopen()
        try:
            await _open_session(line, deadline)
        except Stopped:
            if asked.answer is None:
                raise
            # A modern server that lacks the method, or names its versions otherwise: it has no sessions either.
            await line.reopen()
        else:
            return False
    line.version = _mcp.MODERN
    return True


async def _open_session(line: Line, deadline: Deadline) -> None:
    opened = await line.ask("initialize", _mcp.opening(), deadline)
    agreed = None if opened.answer is None else _mcp.agreed_version(opened.answer)
    if agreed is None:
        raise Stopped(_unopened(opened))
    line.version = agreed
    await line.tell("notifications/initialized", deadline)


def _unopened(opened: Exchanged) -> Observation:
    observation, answer = opened.observation, opened.answer
    if not isinstance(observation, Answered):
        return observation
    if isinstance(answer, Fault):
        return msgspec.structs.replace(observation, reply=answer.reply)
    if answer is None and isinstance(observation.reply, Refused | Failed):
        return observation
    found = "a protocol version that is unknown here" if answer is not None else "no answer of the protocol"
    return msgspec.structs.replace(observation, reply=Malformed(f"initialize was answered with {found}"))


def _server_of(skill: SkillRef) -> bytes:
    """What all tools of a server have in common: the way in to it, and what the operator allows."""
    access = msgspec.structs.replace(skill.access, options={**skill.access.options, "tool": ""})
    return msgspec.json.encode((access, skill.allow_networks, skill.allow_exec), order="deterministic")
