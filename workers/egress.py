"""Which addresses a worker may call, and one look-up for each name.

Everything that is not globally routable is refused unless the skill's ``allow_networks`` hold it: a catalog must not
make the fleet call its own metadata service. The caller connects to the address that was checked, never to the name
again: a second look-up could give another answer. Not a resolver inside the HTTP library: it is not asked for literals.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import time
from functools import lru_cache

from msgspec import Struct

from workers.faults import BadJob, FleetFault

PINNED_S = 60.0
PINNED_NAMES = 4_096
ADDRESSES = 16

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
_GLOBAL_V6 = ipaddress.ip_network("2000::/3")
# What a gateway turns into the IPv4 address in the last four bytes. Source: RFC 6052.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

_RELAY = ipaddress.ip_network("192.88.99.0/24")  # 6to4's retired anycast relay

_pinned: dict[tuple[str, int], tuple[float, tuple[str, ...]]] = {}


class NoSuchHost(Exception):
    """The name does not exist: the skill's own doing, not ours."""


class Address(Struct, frozen=True):
    """Where to connect to; *family* is ``socket.AF_INET`` or ``socket.AF_INET6``."""

    family: int
    ip: str
    port: int


async def resolve(url_host: str, port: int, allow_networks: tuple[str, ...]) -> Address:
    """The address to call *url_host* at: the first of `resolve_all`."""
    return (await resolve_all(url_host, port, allow_networks))[0]


async def resolve_all(url_host: str, port: int, allow_networks: tuple[str, ...]) -> tuple[Address, ...]:
    """Every address of *url_host* that may be called, IPv4 first; never empty.

    *url_host* is a name or an IP literal in any spelling (``[::1]``, ``127.1``, ``0x7f.1``). A name is looked up once
    in `PINNED_S` seconds.

    Raises:
        BadJob: If none of the addresses may be called.
        NoSuchHost: If the name does not exist.
        FleetFault: If our own look-up failed.
    """
    return _allowed(url_host, port, await _addresses(url_host, port), allow_networks)


def known(url_host: str, port: int, allow_networks: tuple[str, ...]) -> tuple[Address, ...] | None:
    """What `resolve_all` would say, if it can say so without a look-up; else None.

    Raises:
        BadJob: If none of the addresses may be called.
    """
    until, texts = _pinned.get((url_host.strip("[]").lower(), port), (0.0, ()))
    if time.monotonic() < until:
        return _checked(url_host, port, texts, allow_networks)
    return _checked(url_host, port, (url_host.strip("[]"),), allow_networks) if _literal(url_host) else None


@lru_cache(maxsize=PINNED_NAMES)
def _literal(host: str) -> bool:
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host.strip("[]"))
        return "%" not in host
    return False


@lru_cache(maxsize=PINNED_NAMES)
def _checked(url_host: str, port: int, texts: tuple[str, ...], allow_networks: tuple[str, ...]) -> tuple[Address, ...]:
    return _allowed(url_host, port, [_unmapped(ipaddress.ip_address(text)) for text in texts], allow_networks)


def _allowed(url_host: str, port: int, found: list[IP], allow_networks: tuple[str, ...]) -> tuple[Address, ...]:
    networks = _networks(allow_networks)
    allowed = [ip for ip in found if is_public(ip) or any(ip in network for network in networks)]
    if not allowed:
        ip = found[0]
        spelt = f" ({ip})" if str(ip) != url_host.strip("[]") else ""
        raise BadJob(
            f"{url_host}{spelt} is not a public address and may not be called;"
            f" --allow-network {suggested(ip)} allows it"
        )
    return tuple(
        Address(socket.AF_INET if ip.version == 4 else socket.AF_INET6, str(ip), port)
        for ip in sorted(allowed, key=lambda ip: ip.version)
    )


def is_public(ip: IP) -> bool:
    """Whether *ip* is globally routable, and no tunnel to an address that is not."""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _NAT64:
            return is_public(ipaddress.IPv4Address(ip.packed[-4:]))
        if ip not in _GLOBAL_V6:
            return False
        if ip.sixtofour is not None and not is_public(ip.sixtofour):
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and ip not in _RELAY


def suggested(ip: IP) -> str:
    """The smallest sensible network that holds *ip*."""
    return str(_LOOPBACK) if ip in _LOOPBACK else str(ipaddress.ip_network(ip))


async def _addresses(host: str, port: int) -> list[IP]:
    literal = host.strip("[]")
    if "%" in literal:
        raise BadJob(f"{host}: an address with a zone cannot be called")
    with contextlib.suppress(ValueError):
        return [_unmapped(ipaddress.ip_address(literal))]
    now = time.monotonic()
    key = (literal.lower(), port)
    until, texts = _pinned.get(key, (0.0, ()))
    if now >= until:
        texts = await _look_up(literal, port)
        if len(_pinned) >= PINNED_NAMES:
            _pinned.clear()
        _pinned[key] = (now + PINNED_S, texts)
    return [_unmapped(ipaddress.ip_address(text)) for text in texts]


async def _look_up(host: str, port: int) -> tuple[str, ...]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
            raise NoSuchHost(f"the name {host} does not exist") from error
        raise FleetFault(f"looking up {host} failed: {error.strerror}") from error
    except UnicodeError as error:
        raise NoSuchHost(f"{host!r} cannot be a host's name") from error
    except OSError as error:
        raise FleetFault(f"looking up {host} failed: {error}") from error
    texts = dict.fromkeys(str(sockaddr[0]).partition("%")[0] for _, _, _, _, sockaddr in found)
    if not texts:
        raise NoSuchHost(f"the name {host} has no address")
    return tuple(texts)[:ADDRESSES]


def _unmapped(ip: IP) -> IP:
    mapped = getattr(ip, "ipv4_mapped", None)
    return mapped if isinstance(mapped, ipaddress.IPv4Address) else ip


@lru_cache(maxsize=256)
def _networks(allow_networks: tuple[str, ...]) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(network, strict=False) for network in allow_networks)
    except ValueError as error:
        raise BadJob(f"--allow-network wants networks such as 10.0.0.0/8: {error}") from error
