"""Skills that misbehave on the wire: each ends as an observation, within the limits."""

from __future__ import annotations

import asyncio
import errno
import gzip
import os
import socket
import struct
import zlib
from typing import Any

import aiohttp
import httpx
import pytest

from workers.adapters import _blame, _body
from workers.faults import FleetFault
from workers.observation import Answered, Broke, Refused, TimedOut

MIB = 1 << 20


async def forever(writer: asyncio.StreamWriter, data: bytes, pause_s: float = 0.0) -> None:
    while True:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(pause_s)


def test_a_skill_that_never_answers_times_out(raw: Any) -> None:
    """The deadline ends the wait."""

    async def behave(*_: Any) -> None:
        await asyncio.sleep(60)

    called = raw.call(behave, deadline_s=0.2)

    assert isinstance(called.only, TimedOut)
    assert called.only.deadline_ms == 200.0


@pytest.mark.parametrize(
    ("start", "drip"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"1"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n1\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"a"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_a_slow_drip_does_not_stretch_the_deadline(raw: Any, start: bytes, drip: bytes) -> None:
    """The deadline is over the whole call, however steadily bytes arrive."""

    async def behave(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await forever(writer, drip, 0.01)

    assert isinstance(raw.call(behave, deadline_s=0.3).only, TimedOut)


@pytest.mark.parametrize("drip", [b"X-More: a\r\n", b"a" * 1000, b"HTTP/1.1 200 OK\r\n"])
def test_endless_headers_are_cut(raw: Any, drip: bytes) -> None:
    """In number and in length."""

    async def behave(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        await forever(writer, drip)

    assert isinstance(raw.call(behave).only, Broke)


def test_an_endless_body_is_cut(raw: Any) -> None:
    """At the limit, not at the deadline."""

    async def behave(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await forever(writer, b"1" * 65_536)

    assert "more than 1048576 bytes" in raw.call(behave).only.reason


@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [("gzip", gzip.compress(b"0" * 64 * MIB)), ("deflate", zlib.compress(b"0" * 64 * MIB))],
)
def test_a_decompression_bomb_is_cut_at_the_limit(raw: Any, encoding: str, bomb: bytes) -> None:
    """What is small on the wire and huge in memory is never unpacked beyond the limit."""
    called = raw.call(raw.answering(bomb, f"Content-Encoding: {encoding}"))

    assert called.only.reason == f"a body of more than {_body.BODY_BYTES} bytes once decompressed"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"not gzip"),
        ("gzip", gzip.compress(b"[1]")[:-4]),
        ("gzip", gzip.compress(b"[1]") + b"more"),
        ("deflate", b"\xff\xff\xff"),
        ("br", b"[1]"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"[1]"))),
    ],
)
def test_a_body_that_cannot_be_decompressed_broke_the_protocol(raw: Any, encoding: str, body: bytes) -> None:
    """Corrupt, cut off, followed by something else, or in an encoding that was not offered."""
    assert isinstance(raw.call(raw.answering(body, f"Content-Encoding: {encoding}")).only, Broke)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x16\x03\x01\x02garbage\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 150 + b"Content-Length: 2\r\n\r\n{}",
    ],
)
def test_garbage_is_broken(raw: Any, data: bytes) -> None:
    """What is not HTTP, or ends before its end, is told in one line."""
    observation = raw.call(raw.sending(data)).only

    assert isinstance(observation, Broke)
    assert observation.reason
    assert "\n" not in observation.reason


def test_a_reset_is_broken(raw: Any) -> None:
    """A connection that is torn down in the middle is the skill's doing."""

    async def behave(_: Any, writer: asyncio.StreamWriter) -> None:
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    assert raw.call(behave).only.reason == "the connection broke: connection reset by peer"


def test_an_answer_before_the_request_was_read_is_an_answer(raw: Any) -> None:
    """A skill may refuse a large body without reading it."""

    async def behave(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    called = raw.call(behave, inputs={"a": "x" * (MIB - 100)})

    assert isinstance(called.only, Answered)
    assert isinstance(called.only.reply, Refused)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
def test_a_refused_connection_is_the_skills(raw: Any, host: str) -> None:
    """Nobody listens: told as such, although the library calls it a connect timeout."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

        called = raw.call(raw.answering(b"1"), url=f"http://{host}:{port}/")

    assert called.only.reason == "connecting failed: connection refused"


def test_a_second_address_is_tried_when_the_first_takes_no_connection(
    raw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name with an address that nobody listens at is still reached."""

    def two(host: str, port: int, *_: Any, **__: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ("127.9.9.9", "127.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", two)

    called = raw.call(raw.answering(b"1"), url="http://two.example:{port}/")

    assert isinstance(called.only, Answered)


def test_running_out_of_file_descriptors_is_our_fault(raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the skill."""

    async def exhausted(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("aiohappyeyeballs.start_connection", exhausted)

    with pytest.raises(FleetFault, match="Too many open files"):
        raw.call(raw.answering(b"1"))


@pytest.mark.parametrize("number", sorted(_blame.OURS))
def test_what_our_machine_lacks_is_our_fault(number: int) -> None:
    """Descriptors, memory, ports, routes."""
    with pytest.raises(FleetFault):
        _blame.skill_reason(OSError(number, os.strerror(number)))


def test_a_bug_of_ours_is_not_taken_for_the_skills_failure() -> None:
    """An exception that says nothing of the exchange goes on upwards."""
    with pytest.raises(httpx.UnsupportedProtocol):
        _blame.skill_reason(httpx.UnsupportedProtocol("x"))


def test_every_failure_of_the_exchange_has_words() -> None:
    """The kinds of failure that need a network to happen are named too."""
    timed_out = aiohttp.ClientOSError(errno.ETIMEDOUT, "x")

    assert _blame.skill_reason(timed_out) == "the connection broke: connection timed out"
    assert _blame.skill_reason(aiohttp.ClientError("odd")) == "the connection broke: odd"
