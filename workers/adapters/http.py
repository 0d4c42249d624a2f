"""``http``: one POST with a JSON body, one JSON answer.

Any 2xx with a JSON body is an answer, whatever its content type; 4xx is a refusal; 5xx a failure; anything else,
redirects among them, is no answer to the call. Redirects are not followed and cookies are not kept.

Connections are kept alive for the main caller and never shared with another: every other caller gets a fresh one for
each call. A server may close an idle connection at the very moment at which we use it. That is not the skill's failure,
so a reused connection that ends before the first byte of an answer is replaced by a fresh one, once; from then on that
origin is called on fresh connections only, so that a skill which cuts connections for real gains at most one call from
it. The alternative, fresh connections always, costs a TLS handshake a call and runs out of local ports at 500 calls/s.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Mapping
from contextlib import aclosing
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from typing import Any

import aiohttp
import httpx
import msgspec
from httpx_aiohttp import AiohttpTransport

from workers import egress
from workers.adapters import _blame, _body, _json
from workers.adapters._adapter import MAIN_CALLER, Adapter, HttpRequest
from workers.adapters._target import Target, target_of
from workers.faults import FleetFault
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, Reply, TimedOut, Value
from workers.wire.skill import SkillRef

IDLE_S = 2.0  # below the five seconds after which most servers close
SHORTEST_WAIT_S = 0.05
LONGEST_WAIT_S = 10.0
HEADERS = 100
HEADER_BYTES = 8_192
KNOWN_TARGETS = 4_096
QUOTED_CHARS = 200

_reused: contextvars.ContextVar[bool] = contextvars.ContextVar("reused", default=False)


def open() -> Adapter:  # noqa: A001 - the name that every adapter module has
    """The adapter of this process. Its connections are made when the first call needs them."""
    return Http()


class Http:
    """Calls skills over HTTP. Belongs to one event loop."""

    def __init__(self) -> None:
        self._tls = httpx.create_ssl_context()
        self._agent = f"skillmark/{version('skillmark')}"
        self._kept = AiohttpTransport(verify=self._tls, client=lambda: self._client(keep=True))
        self._fresh = AiohttpTransport(verify=self._tls, client=lambda: self._client(keep=False))
        self._targets: dict[bytes, Target] = {}
        self._cutters: set[tuple[str, int]] = set()

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = MAIN_CALLER
    ) -> Observation:
        """Call *skill* once; *deadline_s* covers everything from the look-up of the name to the last byte.

        A 429 with a Retry-After of at most `LONGEST_WAIT_S` that the deadline leaves room for is waited out and the
        call sent once more; the answer's ``waited_ms`` says so.

        Raises:
            FleetFault: If our own side failed.
            BadJob: If the address may not be called, or the access's options or secrets are not usable here.
        """
        target = self._target(skill)
        body = target.body(skill, inputs)
        started = time.perf_counter()
        deadline = asyncio.get_running_loop().time() + deadline_s
        try:
            async with asyncio.timeout_at(deadline):
                addresses = await egress.resolve_all(target.host, target.port, skill.allow_networks)
        except egress.NoSuchHost as error:
            return Broke(reason=str(error), elapsed_ms=_since_ms(started))
        except TimeoutError as error:
            raise FleetFault(f"looking up {target.host} took longer than {deadline_s} s") from error
        exchange = _Exchange(target, body, addresses, keep=caller == MAIN_CALLER)
        try:
            async with asyncio.timeout_at(deadline) as scope:
                return await self._patiently(exchange, deadline)
        except TimeoutError:
            if not scope.expired():
                raise
            return TimedOut(elapsed_ms=_since_ms(started), deadline_ms=deadline_s * 1000)

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        """The request that `call` would send: every header, Host and Content-Length among them, and the secret.

        Raises:
            BadJob: If the access's options or secrets are not usable here.
        """
        target = self._target(skill)
        body = target.body(skill, inputs)
        headers = (*target.headers, ("Content-Length", str(len(body))))
        return HttpRequest(method="POST", url=str(target.url), headers=headers, body=body)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._kept.aclose()
        await self._fresh.aclose()

    async def _patiently(self, exchange: _Exchange, deadline: float) -> Observation:
        first = await self._once(exchange)
        if not isinstance(first, Answered) or first.status != 429:
            return first
        wait_s = _retry_after_s(first)
        left_s = deadline - asyncio.get_running_loop().time()
        if wait_s is None or wait_s > LONGEST_WAIT_S or wait_s >= left_s:
            return first
        await asyncio.sleep(wait_s)
        second = await self._once(exchange)
        return msgspec.structs.replace(second, waited_ms=wait_s * 1000) if isinstance(second, Answered) else second

    async def _once(self, exchange: _Exchange) -> Observation:
        started = time.perf_counter()
        try:
            response = await self._send(exchange)
            try:
                async with aclosing(_chunks(response)) as chunks:
                    body = await _body.read(chunks, response.headers.get("content-encoding", ""))
            finally:
                await response.aclose()
        except _body.BadBody as error:
            return Broke(reason=str(error), elapsed_ms=_since_ms(started))
        except (httpx.TransportError, aiohttp.ClientError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            return Broke(reason=exchange.target.redacted(_blame.skill_reason(error)), elapsed_ms=_since_ms(started))
        elapsed_ms = _since_ms(started)
        redacted = exchange.target.redacted
        headers = tuple(
            (name.decode("latin-1"), redacted(value.decode("latin-1"))) for name, value in response.headers.raw
        )
        body = exchange.target.redacted_bytes(body)
        return Answered(
            status=response.status_code,
            headers=headers,
            body=body,
            elapsed_ms=elapsed_ms,
            reply=_reply(response.status_code, redacted(response.headers.get("location", "")), body),
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
        request = exchange.target.request(address.ip, exchange.body)
        if not exchange.keep or origin in self._cutters:
            return await self._fresh.handle_async_request(request)
        _reused.set(False)
        try:
            return await self._kept.handle_async_request(request)
        except (httpx.TransportError, aiohttp.ClientError) as error:
            if not _reused.get() or not _blame.cut_before_answer(error):
                raise
        if len(self._cutters) >= KNOWN_TARGETS:
            self._cutters.clear()
        self._cutters.add(origin)
        return await self._fresh.handle_async_request(request)

    def _target(self, skill: SkillRef) -> Target:
        key = msgspec.json.encode(skill.access, order="deterministic")
        target = self._targets.get(key)
        if target is None:
            if len(self._targets) >= KNOWN_TARGETS:
                self._targets.clear()
            target = self._targets[key] = target_of(skill.access, self._agent)
        return target

    def _client(self, *, keep: bool) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            ssl=self._tls,
            limit=0,  # how much is in flight is the schedule's business
            use_dns_cache=False,
            happy_eyeballs_delay=None,
            **({"keepalive_timeout": IDLE_S} if keep else {"force_close": True}),
        )
        trace = aiohttp.TraceConfig()
        trace.on_connection_reuseconn.append(_note_reuse)
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
            max_headers=HEADERS,
            trace_configs=[trace] if keep else None,
        )


class _Exchange(msgspec.Struct, frozen=True):
    target: Target
    body: bytes
    addresses: tuple[egress.Address, ...]
    keep: bool = True


async def _note_reuse(*_: Any) -> None:
    _reused.set(True)


async def _chunks(response: httpx.Response) -> Any:
    async for chunk in response.stream:  # type: ignore[union-attr]
        yield chunk


def _reply(status: int, location: str, body: bytes) -> Reply:
    if 200 <= status < 300:
        try:
            return Value(_json.decoded(body))
        except _json.NotJson as error:
            return Malformed(f"HTTP {status} without a JSON body: {error}" if body else f"HTTP {status} without a body")
    if 300 <= status < 400:
        return Malformed(f"HTTP {status}, a redirect to {location[:QUOTED_CHARS]!r} that is not followed")
    quoted = body[: QUOTED_CHARS * 4].decode(errors="replace")[:QUOTED_CHARS]
    if 400 <= status < 500:
        return Refused(f"HTTP {status}: {quoted}")
    if 500 <= status < 600:
        return Failed(f"HTTP {status}: {quoted}")
    return Malformed(f"HTTP {status}, which is no answer")


def _retry_after_s(answer: Answered) -> float | None:
    """The seconds that a Retry-After asks for, given as a number or as a date; None if it gives neither."""
    text = next((value.strip() for name, value in answer.headers if name.lower() == "retry-after"), "")
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return max(SHORTEST_WAIT_S, float(text))
    try:
        return max(SHORTEST_WAIT_S, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError, TypeError):
        return None


def _since_ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000
