"""The listener, called over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from workers import listener as module
from workers.canaries import Addresses
from workers.faults import FleetFault
from workers.listener import Listener
from workers.wire.callbacks import Callbacks
from workers.wire.skill import Access, SkillRef

TOKEN, OTHER = "0123456789abcdef" * 2, "fedcba9876543210" * 2


def skill(endpoint: str, **about: Any) -> SkillRef:
    """A skill that is called at *endpoint*."""
    return SkillRef(
        id="s",
        name="s",
        version="1.0.0",
        digest="sha256:0",
        access=Access(adapter="http", endpoint=endpoint),
        input_schema={},
        **{"allow_networks": ("127.0.0.0/8",), **about},
    )


LOCAL = skill("http://127.0.0.1:1/")


def run(test: Callable[[Listener, Addresses], Awaitable[None]], settings: Callbacks | None = None) -> None:
    """Run *test* with an open listener."""

    async def main() -> None:
        listener = Listener(settings)
        try:
            addresses = await listener.addresses(LOCAL)
            assert addresses is not None
            await test(listener, addresses)
        finally:
            await listener.aclose()

    asyncio.run(main())


async def say(base: str, data: bytes) -> bytes:
    """What comes back when *data* is sent to *base*."""
    url = urlsplit(base)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    try:
        writer.write(data)
        await writer.drain()
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def hits(listener: Listener, grace_s: float = 0.0) -> frozenset[str]:
    """Which of the two tokens were called."""
    return await listener.hits({"one": TOKEN, "two": OTHER}, decisive=("one",), grace_s=grace_s)


@pytest.mark.parametrize(
    "line",
    [
        f"GET /{TOKEN} HTTP/1.1",
        f"POST /{TOKEN}?done=1 HTTP/1.1",
        f"HEAD /some/prefix/{TOKEN} HTTP/1.0",
        f"GET http://proxied.example/{TOKEN}/more HTTP/1.1",
    ],
)
def test_a_call_of_an_expected_token_is_a_hit(line: str) -> None:
    """By whatever method, through a proxy, below a path."""

    async def test(listener: Listener, at: Addresses) -> None:
        listener.watch(TOKEN)

        answer = await say(at.public, f"{line}\r\nHost: x\r\n\r\n".encode())

        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert await hits(listener) == {"one"}

    run(test)


@pytest.mark.parametrize(
    "sent",
    [
        f"GET /{OTHER} HTTP/1.1\r\n\r\n".encode(),
        f"GET /{TOKEN[:-1]} HTTP/1.1\r\n\r\n".encode(),
        f"GET /a{TOKEN}b HTTP/1.1\r\n\r\n".encode(),
        f"GET / HTTP/1.1\r\nReferer: /{TOKEN}\r\n\r\n".encode(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /" + b"x" * 100_000 + TOKEN.encode() + b" HTTP/1.1\r\n\r\n",
        b"\r\n",
        b"",
    ],
)
def test_anything_else_is_no_hit(sent: bytes) -> None:
    """Unknown, cut or embedded tokens, a token in a header, TLS, a line too long, nothing."""

    async def test(listener: Listener, at: Addresses) -> None:
        listener.watch(TOKEN)
        url = urlsplit(at.public)
        _, writer = await asyncio.open_connection(url.hostname, url.port)

        writer.write(sent)
        writer.close()
        # A proper call that follows is served after it.
        await say(at.public, f"GET /{OTHER} HTTP/1.1\r\n\r\n".encode())

        assert await hits(listener) == frozenset()

    run(test)


def test_a_redirect_leads_from_the_public_class_to_the_internal_one() -> None:
    """Two addresses, two hits."""

    async def test(listener: Listener, at: Addresses) -> None:
        target = f"{at.internal}/{OTHER}"
        listener.watch(TOKEN, target)
        listener.watch(OTHER)

        answer = await say(at.public, f"GET /{TOKEN} HTTP/1.1\r\nUser-Agent: x\r\n\r\n".encode())
        await say(at.internal, f"GET /{OTHER} HTTP/1.1\r\n\r\n".encode())

        assert b"302 Found" in answer
        assert f"Location: {target}\r\n".encode() in answer
        assert urlsplit(at.public).hostname != urlsplit(at.internal).hostname
        assert await hits(listener) == {"one", "two"}

    run(test)


def test_a_call_within_the_grace_window_is_waited_for() -> None:
    """And ends the wait at once."""

    async def test(listener: Listener, at: Addresses) -> None:
        listener.watch(TOKEN)
        waiting = asyncio.ensure_future(hits(listener, grace_s=60))
        await asyncio.sleep(0)

        await say(at.public, f"GET /{TOKEN} HTTP/1.1\r\n\r\n".encode())

        assert await waiting == {"one"}

    run(test)


def test_a_forgotten_token_is_nobody_s() -> None:
    """Who comes later finds nothing to match, and nothing is kept of it."""

    async def test(listener: Listener, at: Addresses) -> None:
        listener.watch(TOKEN)
        await say(at.public, f"GET /{TOKEN} HTTP/1.1\r\n\r\n".encode())

        listener.forget([TOKEN])
        await say(at.public, f"GET /{TOKEN} HTTP/1.1\r\n\r\n".encode())

        assert await hits(listener) == frozenset()
        assert not listener._expected
        assert not listener._hits

    run(test)


def test_a_flood_of_silent_connections_is_turned_away_and_leaves_nothing() -> None:
    """No more than the bound are held; the others are closed at once."""

    async def test(listener: Listener, at: Addresses) -> None:
        url = urlsplit(at.public)
        count = module.MAX_CONNECTIONS + 40
        opened = [await asyncio.open_connection(url.hostname, url.port) for _ in range(count)]

        turned_away = [reader for reader, _ in opened[module.MAX_CONNECTIONS :]]
        assert [await reader.read() for reader in turned_away] == [b""] * 40
        for _, writer in opened:
            writer.close()

        listener.watch(TOKEN)
        while not await hits(listener):
            await say(at.public, f"GET /{TOKEN} HTTP/1.1\r\n\r\n".encode())

    run(test)


def test_pipelined_calls_and_endless_headers_get_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows the first request is never read as another one."""
    monkeypatch.setattr(module, "READ_S", 2.0)

    async def test(listener: Listener, at: Addresses) -> None:
        listener.watch(TOKEN)
        listener.watch(OTHER)
        both = f"GET /{TOKEN} HTTP/1.1\r\n\r\nGET /{OTHER} HTTP/1.1\r\n\r\n".encode()

        assert (await say(at.public, both)).count(b"HTTP/1.1 ") <= 1
        assert (await say(at.public, both.replace(b"\r\n\r\n", b"\r\nX: y" * 5_000, 1))).count(b"HTTP/1.1 ") <= 1

        assert await hits(listener) == {"one"}

    run(test)


def test_tokens_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own failure if there are too many, and said so."""
    monkeypatch.setattr(module, "MAX_TOKENS", 1)
    listener = Listener()
    listener.watch(TOKEN)

    with pytest.raises(FleetFault):
        listener.watch(OTHER)


def test_only_skills_on_this_machine_reach_a_listener_on_loopback() -> None:
    """A remote one has no way to it, unless a public URL leads there."""
    remote = skill("https://192.0.2.7/x", allow_networks=("192.0.2.0/24",))
    given = Callbacks(public_url="https://out.example/cb/", internal_url="http://10.0.0.9", listen="127.0.0.1:0")

    async def main() -> None:
        alone, public = Listener(), Listener(given)
        try:
            assert await alone.addresses(remote) is None
            assert await public.addresses(remote) == Addresses(
                public="https://out.example/cb", internal="http://10.0.0.9"
            )
            assert await alone.addresses(skill("http://[broken/")) is None
        finally:
            await alone.aclose()
            await public.aclose()

    asyncio.run(main())


def test_an_address_that_is_taken_is_our_own_failure() -> None:
    """Nothing is known of the skill then."""

    async def main() -> None:
        taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        port = taken.sockets[0].getsockname()[1]
        listener = Listener(Callbacks(listen=f"127.0.0.1:{port}"))
        try:
            with pytest.raises(FleetFault, match="cannot be opened"):
                await listener.addresses(LOCAL)
        finally:
            await listener.aclose()
            taken.close()

    asyncio.run(main())
