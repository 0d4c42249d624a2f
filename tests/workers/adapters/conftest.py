"""A raw server on 127.0.0.1 whose every byte the test decides."""

from __future__ import annotations

import asyncio
import importlib
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import Struct

from workers.adapters._adapter import MAIN_CALLER, Adapter
from workers.observation import Observation
from workers.wire.skill import Access, SkillRef

LOOPBACK = ("127.0.0.0/8", "::1/128")


class Request(Struct):
    """What arrived: *connection* counts connections, *nth* the requests on this one; both from 0."""

    connection: int
    nth: int
    head: bytes
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of the header *name*."""
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None


Behaviour = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """Reads whole requests and lets the behaviour write whatever it likes."""

    def __init__(self, behaviour: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.port = 0
        self._behaviour = behaviour
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> RawServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls, limit=1 << 24)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection, nth = self.connections, 0
        self.connections += 1
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                request = Request(connection, nth, head, b"")
                request.body = await reader.readexactly(int(request.header("content-length") or 0))
                self.requests.append(request)
                await self._behaviour(request, writer)
                await writer.drain()
                nth += 1
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            writer.close()


def skill_at(url: str, allow: tuple[str, ...] = LOOPBACK, *, adapter: str = "http", **options: Any) -> SkillRef:
    """A skill that is called at *url*."""
    access = Access(adapter=adapter, endpoint=url, options=options)
    return SkillRef(
        id="tool", name="Tool", version="1.2.3", digest="sha256:0", access=access, input_schema={}, allow_networks=allow
    )


class Called(Struct):
    """What came of the calls."""

    observations: list[Observation]
    server: RawServer

    @property
    def only(self) -> Observation:
        """The observation of the one call."""
        (observation,) = self.observations
        return observation


def call(
    behaviour: Behaviour,
    *,
    callers: tuple[str, ...] = (MAIN_CALLER,),
    inputs: dict[str, Any] | None = None,
    deadline_s: float = 10.0,
    tls: ssl.SSLContext | None = None,
    url: str = "http://127.0.0.1:{port}/call?x=1",
    adapter: str = "http",
    **options: Any,
) -> Called:
    """Call a skill that behaves as *behaviour*, once for each of *callers*, one after the other."""

    async def run() -> Called:
        opened: Adapter = importlib.import_module(f"workers.adapters.{adapter}").open()
        try:
            async with RawServer(behaviour, tls) as server:
                skill = skill_at(url.format(port=server.port), adapter=adapter, **options)
                observations = [
                    await opened.call(skill, inputs or {"a": 1}, deadline_s=deadline_s, caller=caller)
                    for caller in callers
                ]
                return Called(observations, server)
        finally:
            await opened.aclose()

    return asyncio.run(run())


def sending(data: bytes, *, close: bool = True) -> Behaviour:
    """Answer every request with *data*."""

    async def behave(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        if close:
            writer.close()

    return behave


def answering(body: bytes, *headers: str, status: str = "200 OK") -> Behaviour:
    """Answer every request with a well-formed response, and keep the connection."""
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""])
    return sending(head.encode() + body, close=False)


class Raw:
    """The tools of this file, as one fixture: test folders are no packages."""

    call = staticmethod(call)
    sending = staticmethod(sending)
    answering = staticmethod(answering)
    skill_at = staticmethod(skill_at)


@pytest.fixture
def raw() -> type[Raw]:
    return Raw
