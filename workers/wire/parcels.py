"""What stands in a message: a Dramatiq message whose one argument is a parcel, or results, one a line; all as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from workers.wire import queues
from workers.wire.job import Parcel
from workers.wire.result import Result

MAX_BYTES = 8 * 1024 * 1024

TOGETHER_BYTES = 512 * 1024
"""Results above this go in more than one message."""

TOGETHER = 1_000
"""More results than this are never in one message."""


T = TypeVar("T")


class Undecodable(Exception):
    """A message that is not what belongs on its queue. Says where it went wrong, never what stood there."""


class Envelope(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of a Dramatiq message."""

    queue_name: str
    actor_name: str
    args: tuple[Parcel]
    kwargs: dict[str, Any] = {}
    options: dict[str, Any] = {}
    message_id: str
    message_timestamp: int


_encoder = msgspec.json.Encoder()
_envelopes = msgspec.json.Decoder(Envelope)
_results: msgspec.json.Decoder[Result] = msgspec.json.Decoder(Result)


def encode(parcel: Parcel, queue: str) -> bytes:
    """The message that carries *parcel* on *queue*."""
    return _encoder.encode(
        Envelope(
            queue_name=queue,
            actor_name=queue,
            args=(parcel,),
            message_id=parcel.id,
            message_timestamp=int(time.time() * 1000),
        )
    )


def decode(body: bytes) -> Envelope:
    """The parcel's message in *body*.

    Raises:
        Undecodable: If it is too large, no JSON, no parcel, or answers to a queue that is not for results.
    """
    envelope = _decode(_envelopes, body)
    if not envelope.args[0].reply_to.startswith(queues.RESULTS):
        raise Undecodable(f"reply_to does not start with {queues.RESULTS}")
    return envelope


def encode_results(results: Sequence[Result]) -> Iterator[bytes]:
    """The messages that carry *results*: as few as `TOGETHER_BYTES` allows."""
    lines: list[bytes] = []
    size = 0
    for result in results:
        line = _encoder.encode(result)
        if lines and (size + len(line) > TOGETHER_BYTES or len(lines) == TOGETHER):
            yield b"\n".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield b"\n".join(lines)


def lines_of(body: bytes) -> list[bytes]:
    """The lines of a results message, for `decode_result`: what is wrong with one does not harm the others.

    A message that no worker of ours could have sent is left in one piece.
    """
    ours = len(body) <= MAX_BYTES and body.count(b"\n") < TOGETHER
    return body.split(b"\n") if ours else [body]


def decode_result(body: bytes) -> Result:
    """The result in *body*, one line of a message.

    Raises:
        Undecodable: If it is too large, no JSON or no result.
    """
    return _decode(_results, body)


def _decode(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    if len(body) > MAX_BYTES:
        raise Undecodable(f"{len(body)} bytes, at most {MAX_BYTES} are read")
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        # The path to the fault; the rest of msgspec's message may quote what stands there.
        _, at, path = str(error).partition(" - at ")
        raise Undecodable(f"{type(error).__name__}{at}{path}"[:200]) from None
