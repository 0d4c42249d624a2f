"""One open connection to RabbitMQ on an asyncio loop, and the way back to one after it was lost."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pika
import pika.channel
import pika.exceptions
import structlog
from pika.adapters.asyncio_connection import AsyncioConnection

from workers.wire.faults import BrokerUnreachable, LinkLost

HEARTBEAT_S = 30
CONNECT_S = 15
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0

log = structlog.get_logger(__name__)


def redacted(url: str) -> str:
    """*url* with its password and query left out, fit for logs."""
    try:
        parts = urlsplit(url)
        user = f"{parts.username}:***@" if parts.username else ""
        port = f":{parts.port}" if parts.port else ""
        return urlunsplit((parts.scheme, f"{user}{parts.hostname or ''}{port}", parts.path, "", ""))
    except ValueError:
        return "an unreadable URL"


def parameters(url: str, name: str) -> pika.URLParameters:
    """What pika needs to connect to *url*; *name* is shown among the broker's connections.

    Raises:
        BrokerUnreachable: If it is no AMQP URL.
    """
    try:
        if urlsplit(url).scheme not in ("amqp", "amqps"):
            raise ValueError("no AMQP URL")
        found = pika.URLParameters(url)
    except (ValueError, TypeError, AttributeError):
        # pika's own message may quote the whole URL, password included.
        raise BrokerUnreachable(
            f"{redacted(url)} is no broker URL; expected amqp://user:password@host:5672/vhost"
        ) from None
    if found.heartbeat is None:
        found.heartbeat = HEARTBEAT_S
    found.stack_timeout = CONNECT_S
    found.connection_attempts = 1
    found.client_properties = {"connection_name": name}
    return found


def why(error: BaseException) -> str:
    """One line on what kept us out; pika wraps the cause several times."""
    cause: BaseException = error
    for _ in range(8):
        inner = getattr(cause, "exceptions", None) or cause.args
        nested = [part for part in (*inner, getattr(cause, "exception", None)) if isinstance(part, BaseException)]
        if not nested:
            break
        cause = nested[-1]
    return f"{type(cause).__name__}: {cause}"[:300] if str(cause) else type(cause).__name__


class Link:
    """An open connection with one channel. *lost* ends, with the reason, when either of them closes."""

    def __init__(self, connection: AsyncioConnection, lost: asyncio.Future[str], gone: asyncio.Future[None]) -> None:
        self.connection = connection
        self.lost = lost
        self._gone = gone
        self.channel: pika.channel.Channel

    async def call(self, method: str, **arguments: Any) -> Any:
        """Call *method* of the channel and wait for the broker's answer.

        Raises:
            LinkLost: If the connection or the channel closed instead.
        """
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        try:
            getattr(self.channel, method)(**arguments, callback=_set(answer))
        except pika.exceptions.AMQPError as error:
            raise LinkLost(why(error)) from error
        await asyncio.wait({answer, self.lost}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise LinkLost(self.lost.result())
        return answer.result()

    def drop(self) -> None:
        """Begin to close the connection, if it is not closing already."""
        _close(self.connection)

    async def close(self) -> None:
        """Close the connection and wait until its socket is closed, which is later than `lost`."""
        self.drop()
        await asyncio.wait({self._gone}, timeout=CONNECT_S)
        await asyncio.sleep(0)


async def connect(where: pika.URLParameters) -> Link:
    """Connect once.

    Raises:
        BrokerUnreachable: If there is no connection within `CONNECT_S` seconds.
    """
    loop = asyncio.get_running_loop()
    opened: asyncio.Future[None] = loop.create_future()
    lost: asyncio.Future[str] = loop.create_future()
    gone: asyncio.Future[None] = loop.create_future()

    def channel_closed(_: object, error: BaseException) -> None:
        _set(lost)(why(error))
        _close(connection)  # without its channel nobody uses it

    def end(_: object, error: BaseException) -> None:
        _set(lost)(why(error))
        _set(gone)(None)

    def open_channel(_: object) -> None:
        link.channel = connection.channel(on_open_callback=lambda _: _set(opened)(None))
        link.channel.add_on_close_callback(channel_closed)

    connection = AsyncioConnection(
        where, on_open_callback=open_channel, on_open_error_callback=end, on_close_callback=end, custom_ioloop=loop
    )
    link = Link(connection, lost, gone)
    try:
        waits: set[asyncio.Future[Any]] = {opened, lost}
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED, timeout=CONNECT_S + 1)
    finally:
        if not opened.done():
            await link.close()
    if not opened.done():
        reason = lost.result() if lost.done() else f"no answer within {CONNECT_S} s"
        raise BrokerUnreachable(f"no RabbitMQ at {where.host}:{where.port}, vhost {where.virtual_host!r}: {reason}")
    return link


async def reconnect(
    where: pika.URLParameters, patience_s: float | None, prepare: Callable[[Link], Awaitable[None]]
) -> Link:
    """Connect and *prepare* the link, trying again for *patience_s* seconds, or for ever with None.

    Raises:
        BrokerUnreachable: If there is no such link when the patience ends.
    """
    started, pause_s = time.monotonic(), FIRST_PAUSE_S
    while True:
        try:
            return await _prepared(where, prepare)
        except BrokerUnreachable as error:
            if patience_s is not None and time.monotonic() - started + pause_s > patience_s:
                raise
            log.warning("broker unreachable", error=str(error), next_try_s=round(pause_s, 2))
        # Spread out: a whole fleet comes back to a restarted broker at once.
        await asyncio.sleep(pause_s * random.uniform(0.5, 1))  # noqa: S311 - no secret hangs on it
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


async def _prepared(where: pika.URLParameters, prepare: Callable[[Link], Awaitable[None]]) -> Link:
    link = await connect(where)
    try:
        await prepare(link)
    except LinkLost as error:
        raise BrokerUnreachable(f"RabbitMQ at {where.host}:{where.port} hung up: {error}") from error
    except BaseException:
        await link.close()
        raise
    return link


def _set(future: asyncio.Future[Any]) -> Callable[[Any], None]:
    def put(value: Any) -> None:
        if not future.done():
            future.set_result(value)

    return put


def _close(connection: AsyncioConnection) -> None:
    if not (connection.is_closing or connection.is_closed):
        connection.close()
