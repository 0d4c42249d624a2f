"""The host of an address, as permissions name it."""

from __future__ import annotations

import ipaddress
import re

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?", re.ASCII)
MAX_HOST_CHARS = 253


def host_of(text: str, *, whole: bool = True) -> str | None:
    """The host that the URL or host *text* names, in lower case; None where it names none.

    *whole*: all of the text is known. Of a text that goes on in an unknown way the host is known once something ends
    it: ``https://api.example/v`` names one, ``https://api.exam`` could become any.
    """
    _, marked, rest = text.partition("://")
    if not marked:
        if text.startswith("//"):
            rest = text[2:]
        elif whole:
            rest = text
        else:
            return None
    end = re.search(r"[/?#\\]", rest)
    if end is None and not whole:
        return None
    authority = rest[: end.start()] if end else rest
    authority = authority.rpartition("@")[2].strip().lower()
    if authority.startswith("["):
        name = authority[1:].partition("]")[0]
        return name if _is_address(name) else None
    name = authority if _is_address(authority) else authority.partition(":")[0]
    if len(name) > MAX_HOST_CHARS:
        return None
    if not name.isascii():
        try:
            name = name.encode("idna").decode()
        except UnicodeError:
            return None
    return name.rstrip(".") if _HOST.fullmatch(name) else None


def is_here(host: str) -> bool:
    """Whether *host* is the machine that the skill itself runs on."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
