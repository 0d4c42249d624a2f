from __future__ import annotations

import asyncio
import socket

import pytest

from workers.wire.amqp import connect, parameters, redacted
from workers.wire.faults import BrokerUnreachable


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("amqp://guest:secret@host:5672/vhost", "amqp://guest:***@host:5672/vhost"),
        ("amqps://u:p%40w@h/%2f?heartbeat=5", "amqps://u:***@h/%2f"),
        ("amqp://host", "amqp://host"),
        ("amqp://u:p@[::1", "an unreadable URL"),
        ("amqp://u:p@host:port/", "an unreadable URL"),
    ],
)
def test_a_shown_url_has_no_password(url: str, shown: str) -> None:
    """A URL is shown without its password and its query."""
    assert redacted(url) == shown


@pytest.mark.parametrize("url", ["", "host", "http://u:secret@h", "amqp://u:secret@h:port/", "amqp://secret@h"])
def test_what_is_no_broker_url_is_unreachable(url: str) -> None:
    """A URL that cannot be used is refused with an example, its password not shown."""
    with pytest.raises(BrokerUnreachable, match="expected amqp://") as caught:
        parameters(url, "test")

    assert ":secret" not in str(caught.value)


def test_nobody_listening_is_unreachable() -> None:
    """A refused connection says where and why."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]

    with pytest.raises(BrokerUnreachable, match=rf"127\.0\.0\.1:{port}.*refused"):
        asyncio.run(connect(parameters(f"amqp://u:secret@127.0.0.1:{port}/v", "test")))


def test_a_wrong_password_is_unreachable(broker_url: str) -> None:
    """A broker that does not let us in is said so, without the password."""
    with pytest.raises(BrokerUnreachable, match=r"(?i)auth|access|refused") as caught:
        asyncio.run(connect(parameters(broker_url.replace("guest:guest", "guest:wrong-one"), "test")))

    assert "wrong-one" not in str(caught.value)


def test_a_link_tells_when_it_is_lost(broker_url: str) -> None:
    """A channel that the broker closes ends the link, with the broker's reason."""

    async def run() -> str:
        link = await connect(parameters(broker_url, "test"))
        link.channel.basic_publish("no-such-exchange", "", b"")
        return await asyncio.wait_for(link.lost, 30)

    assert "no-such-exchange" in asyncio.run(run())
