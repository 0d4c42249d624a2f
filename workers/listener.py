"""The listener: a small HTTP service that waits for skills which call where an attack told them to.

One a worker process, opened by the first probe that needs it. What came is logged first and matched later: a path is a
token that one attempt expects, and whatever else is asked for is answered alike and forgotten, so that memory is
bounded by the attempts that are under way. It listens on two addresses of loopback, one standing for the public class
and one for the internal one that no fetcher has a reason to call; a public URL may stand before the first.

Loopback's two addresses mean what they mean only to a skill on the same machine, which is the one that reaches them:
one that blocks private addresses calls neither and is safe by that.

Not a framework's server: the request line is read, some headers are skipped, the rest is never looked at.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import time
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

import structlog

from workers import egress
from workers.canaries import Addresses
from workers.faults import BadJob, FleetFault
from workers.sandbox import bubblewrap
from workers.wire.callbacks import Callbacks
from workers.wire.skill import SkillRef

PUBLIC_HOST = "127.0.0.1"
# Not every system gives the whole of 127/8 to loopback.
INTERNAL_HOSTS = ("127.0.0.2", "::1")
MAX_CONNECTIONS = 128
MAX_LINE_BYTES = 2_048
MAX_HEADERS = 64
MAX_TOKENS = 65_536
READ_S = 5.0
PAGE = b"<html><head><title>Notes</title></head><body><p>The ferries waited for the fog to lift.</p></body></html>"

_TOKEN = re.compile(rb"\A[A-Z]{3,8} (?:https?://[^/ ]{1,300})?(?:/[^ ]{0,1000}?)?/([0-9a-f]{32})(?![0-9a-f])")

log = structlog.get_logger(__name__)


class Listener:
    """The listener of one worker process; belongs to one event loop."""

    def __init__(self, settings: Callbacks | None = None) -> None:
        self._settings = settings or Callbacks()
        self._opening = asyncio.Lock()
        self._servers: list[asyncio.Server] = []
        self._local: Addresses | None = None
        self._expected: dict[str, str] = {}
        self._hits: set[str] = set()
        self._arrived = asyncio.Event()
        self._connections = 0

    async def addresses(self, skill: SkillRef) -> Addresses | None:
        """Where *skill* reaches the listener, or None where it has no way to it.

        Raises:
            FleetFault: If the listener cannot be opened here.
        """
        local = await _is_local(skill)
        if not local and not self._settings.public_url:
            return None
        opened = await self._open()
        if local:
            return opened
        return Addresses(public=self._settings.public_url.rstrip("/"), internal=self._settings.internal_url.rstrip("/"))

    def watch(self, token: str, redirect_to: str = "") -> None:
        """Expect a call of the path *token*; it is answered with a page or, where given, with a redirect."""
        if len(self._expected) >= MAX_TOKENS:
            raise FleetFault(f"the listener waits for {MAX_TOKENS} calls already")
        self._expected[token] = redirect_to

    async def hits(self, tokens: Mapping[str, str], *, decisive: Iterable[str], grace_s: float) -> frozenset[str]:
        """The names of those *tokens* that were called; waits *grace_s* seconds, or until a *decisive* one is."""
        deadline = time.monotonic() + grace_s
        wanted = {tokens[name] for name in decisive if name in tokens}
        while not wanted & self._hits and (left_s := deadline - time.monotonic()) > 0:
            self._arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), left_s)
        return frozenset(name for name, token in tokens.items() if token in self._hits)

    def forget(self, tokens: Iterable[str]) -> None:
        """Stop expecting *tokens*: who comes later finds nothing to match."""
        for token in tokens:
            self._expected.pop(token, None)
            self._hits.discard(token)

    async def aclose(self) -> None:
        """Close the sockets."""
        servers, self._servers, self._local = self._servers, [], None
        for server in servers:
            server.close()

    async def _open(self) -> Addresses:
        async with self._opening:
            if self._local is None:
                host, _, port = self._settings.listen.rpartition(":")
                try:
                    public = await self._serve(host.strip("[]") or PUBLIC_HOST, int(port or 0))
                    self._local = Addresses(public=f"http://{PUBLIC_HOST}:{public}", internal=await self._internal())
                except (OSError, ValueError, OverflowError) as error:
                    await self.aclose()
                    raise FleetFault(f"the listener for callbacks cannot be opened: {error}") from error
                log.info("listener", public=self._local.public, internal=self._local.internal)
            return self._local

    async def _internal(self) -> str:
        for host in INTERNAL_HOSTS[:-1]:
            with contextlib.suppress(OSError):
                return f"http://{host}:{await self._serve(host, 0)}"
        return f"http://[{INTERNAL_HOSTS[-1]}]:{await self._serve(INTERNAL_HOSTS[-1], 0)}"

    async def _serve(self, host: str, port: int) -> int:
        server = await asyncio.start_server(self._answer, host, port, limit=MAX_LINE_BYTES)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections <= MAX_CONNECTIONS:
                async with asyncio.timeout(READ_S):
                    response = self._response(await reader.readline())
                    # Closing on unread bytes resets the connection, and the caller would miss the redirect.
                    with contextlib.suppress(ValueError):
                        for _ in range(MAX_HEADERS):
                            if not (await reader.readline()).strip():
                                break
                    writer.write(response)
                    await writer.drain()
        except (TimeoutError, ValueError, OSError):
            pass  # whoever does not send one short line has not called anything
        finally:
            self._connections -= 1
            writer.close()

    def _response(self, line: bytes) -> bytes:
        found = _TOKEN.match(line)
        token = found[1].decode() if found else ""
        redirect_to = self._expected.get(token)
        if redirect_to is not None:
            self._hits.add(token)
            self._arrived.set()
        if redirect_to:
            return _message(b"302 Found", b"", f"Location: {redirect_to}\r\n".encode())
        return _message(b"200 OK", PAGE, b"Content-Type: text/html\r\n")


def _message(status: bytes, body: bytes, headers: bytes) -> bytes:
    length = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
    return b"HTTP/1.1 " + status + b"\r\n" + headers + length + body


async def _is_local(skill: SkillRef) -> bool:
    """Whether *skill* runs on this machine, so that loopback leads it to us."""
    if skill.access.is_program:
        return not await bubblewrap.usable()  # confined, it has no network
    endpoint = skill.access.endpoint
    try:
        url = urlsplit(endpoint)
        host, port = url.hostname, url.port or 80
    except ValueError:
        return False
    if not host:
        return False
    try:
        found = await egress.resolve_all(host, port, skill.allow_networks)
    except (egress.NoSuchHost, BadJob):
        return False
    return all(ipaddress.ip_address(address.ip).is_loopback for address in found)
