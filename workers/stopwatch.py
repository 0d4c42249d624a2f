"""One HTTP/1.1 exchange after the other with one skill, each of them timed.

The time of an exchange runs from the departure of the request's first piece to the arrival of the answer's last byte,
as the caller lives it; both are the kernel's stamps where it gives them, with the application's own reading beside.
Setting up the connection is told apart. HTTP is framed by h11, because no client library hands out the stamps of what
it read.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable

import h11
import httpx
from msgspec import Struct

from workers import timestamps
from workers.adapters._adapter import HttpRequest
from workers.adapters._body import BODY_BYTES
from workers.channel import Channel, Cut, OutOfTime
from workers.egress import Address
from workers.faults import BadJob, FleetFault
from workers.observation import Broke, Reply, TimedOut
from workers.timestamps import Instant, stepped

HEADER_BYTES = 65_536
# Chunked framing may outweigh what it carries, and every chunk costs us time.
WIRE_BYTES = 2 * BODY_BYTES


class Target(Struct, frozen=True, kw_only=True):
    """Where the request goes and what it is, ready to be sent any number of times."""

    addresses: tuple[Address, ...]
    server_name: str
    tls: ssl.SSLContext | None
    request: h11.Request
    body: bytes
    read: Callable[[bytes], Reply] | None = None


class Timed(Struct, frozen=True, kw_only=True):
    """A complete answer and its times.

    *elapsed_ns* and *first_byte_ns* count from the request's departure; by the kernel's clock if *kernel*, else they
    are the application's readings. *app_ns* is the application's reading of the whole. *queued_ns* is how long our
    thread waited for a core meanwhile, if the skill runs on this machine and must have waited likewise, else 0.
    """

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    elapsed_ns: int
    first_byte_ns: int
    app_ns: int
    queued_ns: int
    kernel: bool


Exchange = Timed | TimedOut | Broke


def aim(request: HttpRequest, addresses: tuple[Address, ...], tls: ssl.SSLContext | None) -> Target:
    """*request* as it is sent to the first of *addresses* that can be reached; *tls* is the context for ``https``.

    Raises:
        BadJob: If HTTP/1.1 cannot carry the request.
    """
    try:
        url = httpx.URL(request.url)
        names = {name.lower() for name, _ in request.headers}
        headers = list(request.headers)
        if "host" not in names:
            headers.insert(0, ("Host", url.netloc.decode("ascii")))
        if not names & {"content-length", "transfer-encoding"}:
            headers.append(("Content-Length", str(len(request.body))))
        framed = h11.Request(method=request.method, target=url.raw_path, headers=headers)
        target = Target(
            addresses=addresses,
            server_name=url.raw_host.decode("ascii"),
            tls=tls if url.scheme == "https" else None,
            request=framed,
            body=request.body,
            read=request.read,
        )
        _frame(h11.Connection(h11.CLIENT), target)
        if target.tls is not None:
            # A name that TLS cannot carry shows here already, and not in every exchange.
            target.tls.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname=target.server_name)
    except (httpx.InvalidURL, h11.LocalProtocolError, ValueError) as error:
        raise BadJob(f"the request cannot be sent over HTTP/1.1: {type(error).__name__}") from error
    return target


class Stopwatch:
    """Times exchanges with *target*, over one connection as long as the skill keeps it open.

    For one thread; only `abort` may be called from another. *requests* counts those sent, *connect_ms* and *tls_ms*
    hold one figure a connection. *kernel* False reads the application's clock alone. *read* is how the request's
    adapter reads the body of a 2xx answer, if not as any JSON.
    """

    def __init__(self, target: Target, *, kernel: bool = True) -> None:
        self._target = target
        self.read = target.read
        self._addresses = target.addresses
        self._kernel = kernel
        self._channel: Channel | None = None
        self._answer_bytes = 0
        self._reuse = True
        self._aborted = False
        self.requests = 0
        self.connect_ms: list[float] = []
        self.tls_ms: list[float] = []

    def time(self, deadline_ns: int) -> Exchange:
        """Send the request once and time the answer; all of it, connecting too, must end by *deadline_ns*.

        A skill may close an idle connection at any moment, so a request that meets the end of a used connection before
        the first byte of an answer is sent again on a new one. That happens once: from then on no connection is used
        twice, so that a skill which drops requests can hide one of them behind this rule and no more.

        Raises:
            FleetFault: If our own machine or network failed.
        """
        started_ns = time.perf_counter_ns()
        while True:
            channel = self._channel
            used = channel is not None and channel.quiet()
            self._answer_bytes = 0
            try:
                if channel is None or not used:
                    channel = self._connect(deadline_ns)
                timed = self._exchange(channel, deadline_ns)
                if timed.elapsed_ns > deadline_ns - started_ns:
                    raise OutOfTime  # it came late, while we were not there to see it
                return timed
            except OutOfTime:
                self.close()
                return TimedOut(
                    elapsed_ms=(time.perf_counter_ns() - started_ns) / 1e6, deadline_ms=(deadline_ns - started_ns) / 1e6
                )
            except Cut as error:
                self.close()
                if used and self._reuse and not self._answer_bytes and not self._aborted:
                    self._reuse = False
                    continue
                return Broke(reason=str(error), elapsed_ms=(time.perf_counter_ns() - started_ns) / 1e6)

    def abort(self) -> None:
        """End, from another thread, the exchange that runs, and every later one at once."""
        self._aborted = True
        if (channel := self._channel) is not None:
            channel.abort()

    def close(self) -> None:
        """Close the connection; the next exchange opens another."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _connect(self, deadline_ns: int) -> Channel:
        for address in self._addresses[:-1]:
            try:
                channel = self._open(address, deadline_ns)
            except (Cut, FleetFault):
                continue
            self._addresses = (address,)
            return channel
        return self._open(self._addresses[-1], deadline_ns)

    def _open(self, address: Address, deadline_ns: int) -> Channel:
        self.close()
        target = self._target
        channel = self._channel = Channel(address, tls=target.tls, server_name=target.server_name, kernel=self._kernel)
        if self._aborted:
            channel.abort()
        channel.open(deadline_ns)
        self.connect_ms.append(channel.connect_ms)
        if channel.tls_ms is not None:
            self.tls_ms.append(channel.tls_ms)
        return channel

    def _exchange(self, channel: Channel, deadline_ns: int) -> Timed:
        http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADER_BYTES)
        framed = _frame(http, self._target)
        self.requests += 1
        queued_ns = timestamps.queued_ns() if channel.at_home else 0
        start = Instant.now()
        number = channel.send(framed, deadline_ns)
        try:
            answer = self._answer(http, channel, deadline_ns)
        except h11.RemoteProtocolError as error:
            raise Cut("what came back is not HTTP/1.1") from error
        end = Instant.now()
        if channel.at_home:
            queued_ns = timestamps.queued_ns() - queued_ns
        departed_ns = channel.departure(number)
        reusable = http.our_state is h11.DONE and http.their_state is h11.DONE and http.trailing_data == (b"", False)
        if not (self._reuse and reusable):
            self.close()
        return _timed(answer, start, end, departed_ns, queued_ns)

    def _answer(self, http: h11.Connection, channel: Channel, deadline_ns: int) -> _Answer:
        answer = _Answer()
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                data, stamp = channel.receive(deadline_ns)
                if data:
                    answer.arrived(stamp)
                    self._answer_bytes += len(data)
                elif not self._answer_bytes:
                    raise Cut("connection closed without an answer")
                if self._answer_bytes > WIRE_BYTES:
                    raise Cut(f"an answer of more than {WIRE_BYTES} bytes on the wire")
                http.receive_data(data)
            elif isinstance(event, h11.Response):
                answer.status, answer.headers = event.status_code, tuple(event.headers)
            elif isinstance(event, h11.Data):
                answer.body += event.data
                if len(answer.body) > BODY_BYTES:
                    raise Cut(f"a body of more than {BODY_BYTES} bytes")
            elif isinstance(event, h11.EndOfMessage):
                return answer


class _Answer:
    """An answer as it grows, with the moments of its first and its last bytes."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: tuple[tuple[bytes, bytes], ...] = ()
        self.body = bytearray()
        self.first_seen_ns = 0
        self.first_ns: int | None = None
        self.last_ns: int | None = None

    def arrived(self, stamp: int | None) -> None:
        if not self.first_seen_ns:
            self.first_seen_ns, self.first_ns = time.perf_counter_ns(), stamp
        self.last_ns = stamp


def _timed(answer: _Answer, start: Instant, end: Instant, departed_ns: int | None, queued_ns: int) -> Timed:
    """The kernel's reading where all its stamps are there and no clock was set meanwhile, else the application's."""
    app_ns = end.after_ns - start.before_ns
    elapsed_ns, first_byte_ns = app_ns, answer.first_seen_ns - start.before_ns
    first_ns, last_ns = answer.first_ns, answer.last_ns
    kernel = False
    if departed_ns is not None and first_ns is not None and last_ns is not None and not stepped(start, end):
        kernel = True
        if first_ns < departed_ns:
            raise Cut("answered before it was asked")
        elapsed_ns, first_byte_ns = last_ns - departed_ns, first_ns - departed_ns
    return Timed(
        status=answer.status,
        headers=answer.headers,
        body=bytes(answer.body),
        elapsed_ns=elapsed_ns,
        first_byte_ns=first_byte_ns,
        app_ns=app_ns,
        queued_ns=queued_ns,
        kernel=kernel,
    )


def _frame(http: h11.Connection, target: Target) -> bytes:
    parts = [http.send(target.request)]
    if target.body:
        parts.append(http.send(h11.Data(data=target.body)))
    parts.append(http.send(h11.EndOfMessage()))
    return b"".join(part for part in parts if part)
