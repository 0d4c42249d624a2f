"""A response's body, decompressed as it comes and never beyond a limit."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

BODY_BYTES = 1 << 20
ACCEPT_ENCODING = "gzip, deflate"

_GZIP = 16 + zlib.MAX_WBITS
_ZLIB = zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS


class BadBody(Exception):
    """The body is over the limit, cut off, or not in an encoding that we offered."""


async def read(chunks: AsyncIterator[bytes], encoding: str) -> bytes:
    """The decompressed body; *encoding* is the response's Content-Encoding.

    Raises:
        BadBody: If it is over `BODY_BYTES`, before or after decompression, or cannot be decompressed.
    """
    name = _offered(encoding)
    raw = bytearray()
    async for chunk in chunks:
        raw += chunk
        if len(raw) > BODY_BYTES:
            raise BadBody(f"a body of more than {BODY_BYTES} bytes")
    return decompressed(bytes(raw), name)


def decompressed(raw: bytes, encoding: str) -> bytes:
    """The body that *raw*, all of it, stands for; *encoding* is the response's Content-Encoding.

    Raises:
        BadBody: If it is over `BODY_BYTES` once decompressed, or cannot be decompressed.
    """
    name = _offered(encoding)
    if name in ("", "identity") or not raw:
        return raw
    if name == "deflate":
        # The header names zlib, but many servers send the bare stream; the first byte tells: 8 is zlib's method.
        return _inflated(raw, _ZLIB if raw[0] & 0x0F == 8 else _RAW_DEFLATE)
    return _inflated(raw, _GZIP)


def _offered(encoding: str) -> str:
    name = encoding.strip().lower()
    if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise BadBody(f"content encoding {encoding[:40]!r}, which was not offered")
    return name


def _inflated(raw: bytes, window: int) -> bytes:
    inflater = zlib.decompressobj(window)
    try:
        body = inflater.decompress(raw, BODY_BYTES + 1)
    except zlib.error as error:
        raise BadBody(f"a body that cannot be decompressed: {error}") from error
    if len(body) > BODY_BYTES:
        raise BadBody(f"a body of more than {BODY_BYTES} bytes once decompressed")
    if not inflater.eof:
        raise BadBody("a compressed body that ends too early")
    if inflater.unused_data:
        raise BadBody("bytes after the end of a compressed body")
    return body
