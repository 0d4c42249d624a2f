"""Server-sent events: the data of each event, out of bytes that come in pieces.

Source: HTML Living Standard, 9.2 Server-sent events. Event names, ids and retry times say nothing that we need.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from workers.adapters._body import BODY_BYTES, BadBody

CONTENT_TYPE = "text/event-stream"
EVENTS = 1_000


class EventStream:
    """Reads one stream: at most `EVENTS` events and `_body.BODY_BYTES` in all, before and after decompression.

    *raw* is what it read so far, decompressed.
    """

    def __init__(self, encoding: str = "") -> None:
        self._inflate = _inflater(encoding)
        self._received = 0
        self.raw = bytearray()
        self._events = 0
        self._pending = bytearray()
        self._data: list[bytes] = []
        self._first = True

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The data of the events that *chunk* completes.

        Raises:
            BadBody: If the stream is over its limits, or cannot be decompressed.
        """
        self._received += len(chunk)
        if self._inflate is not None:
            try:
                chunk = self._inflate.decompress(chunk, BODY_BYTES + 1)
            except zlib.error as error:
                raise BadBody(f"an event stream that cannot be decompressed: {error}") from error
        self.raw += chunk
        if self._received > BODY_BYTES or len(self.raw) > BODY_BYTES:
            raise BadBody(f"an event stream of more than {BODY_BYTES} bytes without the answer")
        self._pending += chunk
        if self._first and len(self._pending) >= 3:
            self._first = False
            if self._pending.startswith(b"\xef\xbb\xbf"):
                del self._pending[:3]
        # A line may end in CR LF: a CR at the very end could be the first half of it.
        whole = max(self._pending.rfind(b"\n"), self._pending.rfind(b"\r", 0, -1)) + 1
        lines = bytes(self._pending[:whole])
        del self._pending[:whole]
        for line in lines.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]:
            yield from self._line(line)

    def _line(self, line: bytes) -> Iterator[bytes]:
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            return
        self._events += 1
        if self._events > EVENTS:
            raise BadBody(f"an event stream of more than {EVENTS} events without the answer")
        if self._data:
            data, self._data = b"\n".join(self._data), []
            yield data


def _inflater(encoding: str) -> zlib._Decompress | None:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        case "deflate":
            return zlib.decompressobj(zlib.MAX_WBITS)
    raise BadBody(f"content encoding {encoding[:40]!r}, which was not offered")
