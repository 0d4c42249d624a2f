"""HTTP exchanges with skills: the one way out that all adapters over HTTP share.

Addresses are checked by `workers.egress` and called as checked. Redirects are not followed and cookies are not kept.

Connections are kept alive for the main caller and never shared with another: every other caller gets a fresh one for
each call. A server may close an idle connection at the very moment at which we use it. That is not the skill's failure,
so a reused connection that ends before the first byte of an answer is replaced by a fresh one, once; from then on that
origin is called on fresh connections only, so that a skill which cuts connections for real gains at most one call from
it. The alternative, fresh connections always, costs a TLS handshake a call and runs out of local ports at 500 calls/s.
"""

from __future__ import annotations

import asyncio
import contextvars
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import httpx
import msgspec
from httpx_aiohttp import AiohttpTransport
from msgspec import Struct

from workers import egress, trust
from workers.adapters import _blame, _body
from workers.adapters._deadline import Deadline
from workers.adapters._target import Headers, Target
from workers.faults import FleetFault
from workers.observation import Broke, TimedOut

IDLE_S = 2.0  # below the five seconds after which most servers close
SHORTEST_WAIT_S = 0.05
LONGEST_WAIT_S = 10.0
HEADERS = 100
HEADER_BYTES = 8_192
KNOWN_ORIGINS = 4_096

_reused: contextvars.ContextVar[bool] = contextvars.ContextVar("reused", default=False)

Read = Callable[[httpx.Headers, AsyncIterator[bytes]], Awaitable[bytes]]
"""Takes a response's headers and the chunks of its body, and gives the body; may stop early. Raises `_body.BadBody`."""


class Response(Struct, frozen=True, kw_only=True):
    """A complete response, without our secrets in it; see `observation.Answered` for *waited_ms*."""

    status: int
    headers: Headers
    body: bytes
    elapsed_ms: float
    waited_ms: float = 0.0

    def header(self, name: str) -> str:
        """The first value of the header *name*; empty if there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")


async def whole_body(headers: httpx.Headers, chunks: AsyncIterator[bytes]) -> bytes:
    """The whole body, decompressed, at most `_body.BODY_BYTES`."""
    return await _body.read(chunks, headers.get("content-encoding", ""))


class Transport:
    """The connections of one adapter. Belongs to one event loop; they are made when the first exchange needs them."""

    def __init__(self) -> None:
        self._pools: dict[tuple[bool, bool], AiohttpTransport] = {}
        self._cutters: set[tuple[str, int]] = set()

    async def post(
        self,
        target: Target,
        body: bytes,
        deadline: Deadline,
        *,
        allow_networks: tuple[str, ...],
        keep: bool = True,
        headers: Headers = (),
        read: Read = whole_body,
        method: str = "POST",
    ) -> Response | TimedOut | Broke:
        """Send *body* to *target*, with *headers* beside its own; *keep*: on a connection that may be kept and shared.

        A header of *target* that *headers* name again is replaced. *read* takes the body off the connection.

        A 429 with a Retry-After of at most `LONGEST_WAIT_S` that the deadline leaves room for is waited out and the
        request sent once more; the response's ``waited_ms`` says so.

        Raises:
            FleetFault: If our own side failed.
            BadJob: If the address may not be called.
        """
        addresses = egress.known(target.host, target.port, allow_networks)
        if addresses is None:
            try:
                async with deadline.limit():
                    addresses = await egress.resolve_all(target.host, target.port, allow_networks)
            except egress.NoSuchHost as error:
                return Broke(reason=str(error), elapsed_ms=deadline.elapsed_ms())
            except TimeoutError as error:
                raise FleetFault(f"looking up {target.host} took longer than {deadline.total_s} s") from error
        exchange = _Exchange(target, method, headers, body, addresses, keep, read)
        try:
            async with deadline.limit() as scope:
                return await self._patiently(exchange, deadline)
        except TimeoutError:
            if not scope.expired():
                raise
            return deadline.missed()

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            await pool.aclose()

    async def _patiently(self, exchange: _Exchange, deadline: Deadline) -> Response | Broke:
        first = await self._once(exchange)
        if isinstance(first, Broke) or first.status != 429:
            return first
        wait_s = _retry_after_s(first.header("retry-after").strip())
        if wait_s is None or wait_s > LONGEST_WAIT_S or wait_s >= deadline.left_s():
            return first
        await asyncio.sleep(wait_s)
        second = await self._once(exchange)
        return msgspec.structs.replace(second, waited_ms=wait_s * 1000) if isinstance(second, Response) else second

    async def _once(self, exchange: _Exchange) -> Response | Broke:
        started = time.perf_counter()
        redacted = exchange.target.redacted
        try:
            response = await self._send(exchange)
            try:
                async with aclosing(_chunks(response)) as chunks:
                    body = await exchange.read(response.headers, chunks)
            finally:
                await response.aclose()
        except _body.BadBody as error:
            return Broke(reason=redacted(str(error)), elapsed_ms=_since_ms(started))
        except (httpx.TransportError, aiohttp.ClientError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            return Broke(reason=redacted(_blame.skill_reason(error)), elapsed_ms=_since_ms(started))
        elapsed_ms = _since_ms(started)
        return Response(
            status=response.status_code,
            headers=tuple(
                (redacted(name.decode("latin-1")), redacted(value.decode("latin-1")))
                for name, value in response.headers.raw
            ),
            body=exchange.target.redacted_bytes(body),
            elapsed_ms=elapsed_ms,
        )

    async def _send(self, exchange: _Exchange) -> httpx.Response:
        """The head of the response, from the first address that takes a connection."""
        origin = (exchange.target.host, exchange.target.port)
        *others, last = exchange.addresses
        for address in others:
            try:
                return await self._send_to(address, exchange, origin)
            except (httpx.TransportError, aiohttp.ClientError) as error:
                if not _blame.connecting(error):
                    raise
        return await self._send_to(last, exchange, origin)

    async def _send_to(self, address: egress.Address, exchange: _Exchange, origin: tuple[str, int]) -> httpx.Response:
        request = exchange.target.request(address.ip, exchange.body, exchange.headers, exchange.method)
        secure = exchange.target.secure
        if not exchange.keep or origin in self._cutters:
            return await self._pool(secure=secure, keep=False).handle_async_request(request)
        _reused.set(True)
        try:
            return await self._pool(secure=secure, keep=True).handle_async_request(request)
        except (httpx.TransportError, aiohttp.ClientError) as error:
            if not _reused.get() or not _blame.cut_before_answer(error):
                raise
        if len(self._cutters) >= KNOWN_ORIGINS:
            self._cutters.clear()
        self._cutters.add(origin)
        return await self._pool(secure=secure, keep=False).handle_async_request(request)

    def _pool(self, *, secure: bool, keep: bool) -> AiohttpTransport:
        pool = self._pools.get((secure, keep))
        if pool is None:
            tls = trust.verifying() if secure else trust.nobody()
            pool = AiohttpTransport(verify=tls, client=lambda: self._client(tls, keep=keep))
            self._pools[secure, keep] = pool
        return pool

    def _client(self, tls: ssl.SSLContext, *, keep: bool) -> aiohttp.ClientSession:
        connector = _Connector(
            ssl=tls,
            limit=0,  # how much is in flight is the schedule's business
            use_dns_cache=False,
            happy_eyeballs_delay=None,
            **({"keepalive_timeout": IDLE_S} if keep else {"force_close": True}),
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
            max_headers=HEADERS,
        )


class _Exchange(Struct, frozen=True):
    target: Target
    method: str
    headers: Headers
    body: bytes
    addresses: tuple[egress.Address, ...]
    keep: bool
    read: Read


class _Connector(aiohttp.TCPConnector):
    """Notes that a request got a connection of its own; a trace hook would cost every request a twentieth."""

    async def _create_connection(self, *arguments: Any) -> Any:
        _reused.set(False)
        return await super()._create_connection(*arguments)


async def _chunks(response: httpx.Response) -> Any:
    async for chunk in response.stream:  # type: ignore[union-attr]
        yield chunk


def _retry_after_s(text: str) -> float | None:
    """The seconds that a Retry-After asks for, given as a number or as a date; None if it gives neither."""
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return max(SHORTEST_WAIT_S, float(text))
    try:
        return max(SHORTEST_WAIT_S, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError, TypeError):
        return None


def _since_ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000
