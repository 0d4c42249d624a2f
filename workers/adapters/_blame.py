"""Whose fault a failed exchange was, read from the exception under the one that httpx-aiohttp shows.

httpx-aiohttp maps by the first base class that fits, so that a refused connection comes out as ``ConnectTimeout``.
"""

from __future__ import annotations

import errno
import os
import ssl

import aiohttp
import httpx

from workers.faults import FleetFault

# Our machine ran out of something, or has no way to the network at all.
OURS = frozenset(
    {
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOMEM,
        errno.EADDRNOTAVAIL,
        errno.ENETUNREACH,
        errno.ENETDOWN,
        errno.EHOSTUNREACH,
        errno.EACCES,
        errno.EPERM,
    }
)


def skill_reason(error: Exception) -> str:
    """What the skill did to the connection, in plain words.

    Raises:
        FleetFault: If it was our own side that failed.
        Exception: *error* itself, if it is no failure of an exchange but a bug of ours.
    """
    cause = root(error)
    # TLS first: OpenSSL's own numbers stand where the system's would, and its 1 is no EPERM.
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        return f"TLS: the certificate does not hold: {cause.certificate_error}"[:300]
    if isinstance(cause, aiohttp.ClientSSLError | ssl.SSLError):
        return f"TLS failed: {cause}"[:300]
    number = cause.errno if isinstance(cause, OSError) else None
    if number in OURS:
        raise FleetFault(f"our side cannot connect: {os.strerror(number or 0)}") from error
    match cause:
        case aiohttp.ClientConnectorError():
            return f"connecting failed: {_words(number)}"
        case aiohttp.ServerDisconnectedError():
            return "it closed the connection without an answer"
        case aiohttp.ClientPayloadError():
            return "the answer's body is cut off or badly framed"
        case aiohttp.ClientResponseError():
            return f"the answer is not HTTP, or its head is over our limits: {cause.message.partition(chr(10))[0]}"[
                :300
            ]
        case OSError():
            return f"the connection broke: {_words(number)}"
        case aiohttp.ClientError():
            return f"the connection broke: {cause}"[:300]
    raise error


def root(error: Exception) -> Exception:
    """The exception of the library that owns the connection."""
    return error.__cause__ if isinstance(error, httpx.HTTPError) and isinstance(error.__cause__, Exception) else error


def connecting(error: Exception) -> bool:
    """Whether *error* came before a connection stood: nothing was sent, another address may be tried."""
    return isinstance(root(error), aiohttp.ClientConnectorError)


def cut_before_answer(error: Exception) -> bool:
    """Whether the connection ended before the first byte of an answer."""
    cause = root(error)
    if isinstance(cause, aiohttp.ServerDisconnectedError):
        return isinstance(cause.message, str)  # else it is the part of the head that did arrive
    return (
        isinstance(cause, aiohttp.ClientOSError)
        and not isinstance(cause, aiohttp.ClientConnectorError)
        and cause.errno in (errno.ECONNRESET, errno.EPIPE)
    )


def _words(number: int | None) -> str:
    return os.strerror(number).lower() if number else "unknown reason"
