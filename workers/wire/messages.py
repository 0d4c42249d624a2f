"""Dramatiq's messages as they are here: each carries one parcel, and comes back when its actor raised."""

from __future__ import annotations

import dramatiq
import msgspec
from dramatiq.encoder import Encoder, MessageData
from dramatiq.middleware import Middleware

from workers.wire.parcels import decode


class ParcelEncoder(Encoder):
    """Dramatiq's view of our encoding. Installed with ``dramatiq.set_encoder``."""

    def encode(self, data: MessageData) -> bytes:
        """The bytes of a Dramatiq message."""
        return msgspec.json.encode(data)

    def decode(self, data: bytes) -> MessageData:
        """The fields of a Dramatiq message; ``args[0]`` is a `Parcel` already.

        Raises:
            Undecodable: If it is anything else.
        """
        return msgspec.structs.asdict(decode(data))


class PutBack(Middleware):
    """Without it, and without Dramatiq's retries, a message whose actor raised would count as done."""

    def after_process_message(
        self,
        broker: dramatiq.Broker,
        message: dramatiq.MessageProxy,
        *,
        result: object = None,
        exception: BaseException | None = None,
    ) -> None:
        """Mark a message whose actor raised."""
        if exception is not None:
            message.fail()
