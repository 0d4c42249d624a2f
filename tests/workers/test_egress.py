"""Which addresses may be called."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers import egress
from workers.egress import Address, NoSuchHost, is_public, known, resolve, resolve_all
from workers.faults import BadJob, FleetFault

LOOPBACK = ("127.0.0.0/8", "::1/128")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    egress._pinned.clear()
    yield
    egress._pinned.clear()


def answering(monkeypatch: pytest.MonkeyPatch, answer: Callable[..., Any]) -> None:
    """Let the machine's own resolver answer with *answer*: no test may ask the real one."""
    monkeypatch.setattr(socket, "getaddrinfo", answer)


def found(*ips: str) -> Callable[..., Any]:
    return lambda host, port, *_, **__: [
        (socket.AF_INET6 if ":" in ip else socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ips
    ]


def failing(number: int) -> Callable[..., Any]:
    def look_up(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(number, "as the test wants it")

    return look_up


@pytest.mark.parametrize(
    "ip",
    [
        *("0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1"),
        *("192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1"),
        *("255.255.255.255", "::", "::1", "::7f00:1", "fc00::1", "fd12::1", "fe80::1", "fec0::1", "ff02::1"),
        *("2001:db8::1", "2001::1", "2002:7f00:1::", "2002:a00:1::", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        *("64:ff9b:1::1", "100::1", "5f00::1"),
    ],
)
def test_what_is_not_globally_routable_is_not_public(ip: str) -> None:
    """Private, loopback, link-local, shared, multicast, reserved, and every tunnel to one of them."""
    assert not is_public(ipaddress.ip_address(ip))


@pytest.mark.parametrize("ip", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "2002:808:808::", "64:ff9b::808:808"])
def test_what_is_globally_routable_is_public(ip: str) -> None:
    """Public addresses, and tunnels to public ones."""
    assert is_public(ipaddress.ip_address(ip))


@given(ip=st.ip_addresses(network="10.0.0.0/8") | st.ip_addresses(network="127.0.0.0/8"))
def test_a_private_address_stays_private_in_every_wrapping(ip: ipaddress.IPv4Address) -> None:
    """Mapped, 6to4 and NAT64 spellings of a private address open no door."""
    wrapped = [f"::ffff:{ip}", f"64:ff9b::{ip}", str(ipaddress.IPv6Address((0x2002 << 112) | (int(ip) << 80)))]

    for spelling in (str(ip), *wrapped):
        with pytest.raises(BadJob):
            asyncio.run(resolve(spelling, 80, ()))


@pytest.mark.parametrize(
    "spelling",
    ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0x7f000001", "::ffff:127.0.0.1", "[::ffff:7f00:1]"],
)
def test_every_spelling_of_loopback_is_refused_and_then_allowed(spelling: str) -> None:
    """Odd literals are resolved, then checked; the message says what would allow them."""
    with pytest.raises(BadJob, match=r"--allow-network 127\.0\.0\.0/8"):
        asyncio.run(resolve(spelling, 80, ()))

    assert asyncio.run(resolve(spelling, 80, LOOPBACK)) == Address(socket.AF_INET, "127.0.0.1", 80)


def test_the_suggested_network_is_the_smallest_sensible_one() -> None:
    """A private address is suggested alone, not with its whole network."""
    with pytest.raises(BadJob, match=r"10\.1\.2\.3 is not a public address.*--allow-network 10\.1\.2\.3/32 allows it"):
        asyncio.run(resolve("10.1.2.3", 80, LOOPBACK))


def test_a_public_literal_needs_no_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address is taken as it is."""
    answering(monkeypatch, failing(socket.EAI_AGAIN))

    assert asyncio.run(resolve("[2606:4700::1111]", 443, ())) == Address(socket.AF_INET6, "2606:4700::1111", 443)


def test_a_name_that_leads_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is shown with what it stands for."""
    answering(monkeypatch, found("169.254.169.254"))

    with pytest.raises(BadJob, match=r"metadata\.example \(169\.254\.169\.254\)"):
        asyncio.run(resolve("metadata.example", 80, ()))


def test_only_the_addresses_that_may_be_called_are_given_ipv4_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Private ones among them are left out."""
    answering(monkeypatch, found("2606:4700::1111", "10.0.0.1", "1.1.1.1", "::ffff:8.8.8.8"))

    addresses = asyncio.run(resolve_all("mixed.example", 80, ()))

    assert [address.ip for address in addresses] == ["1.1.1.1", "8.8.8.8", "2606:4700::1111"]


def test_a_name_is_looked_up_once_and_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second answer, pointing inwards, is never asked for."""
    answers = iter([found("1.1.1.1"), found("127.0.0.1")])
    answering(monkeypatch, lambda *args, **kwargs: next(answers)(*args, **kwargs))

    first = asyncio.run(resolve("Rebound.example", 80, LOOPBACK))
    second = asyncio.run(resolve("rebound.example", 80, LOOPBACK))

    assert first == second == Address(socket.AF_INET, "1.1.1.1", 80)


def test_what_one_skill_may_call_another_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pinned address is checked against each skill's own networks."""
    answering(monkeypatch, found("127.0.0.1"))

    allowed = asyncio.run(resolve("inside.example", 80, LOOPBACK))

    assert allowed.ip == "127.0.0.1"
    with pytest.raises(BadJob):
        asyncio.run(resolve("inside.example", 80, ()))


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "::ffff:127.0.0.1"])
def test_a_literal_is_known_without_a_look_up_and_checked_all_the_same(host: str) -> None:
    """What is said at once is what would be said after a look-up, refusals included."""
    networks = (*LOOPBACK, "::1/128")

    assert known(host, 80, networks) == asyncio.run(resolve_all(host, 80, networks))
    with pytest.raises(BadJob, match="may not be called"):
        known(host, 80, ())


def test_a_name_is_known_once_it_was_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """And until its time is over; each skill's networks hold for it."""
    answering(monkeypatch, found("127.0.0.1"))

    assert known("inside.example", 80, LOOPBACK) is None
    looked_up = asyncio.run(resolve_all("inside.example", 80, LOOPBACK))

    assert known("Inside.example", 80, LOOPBACK) == looked_up
    with pytest.raises(BadJob, match="may not be called"):
        known("inside.example", 80, ())
    assert known("inside.example", 81, LOOPBACK) is None
    egress._pinned.clear()
    assert known("inside.example", 80, LOOPBACK) is None


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "fe80::1%eth0", "", "a b"])
def test_odd_spellings_are_left_to_the_look_up(host: str) -> None:
    """Nothing is known of what is no plain address."""
    assert known(host, 80, LOOPBACK) is None


@pytest.mark.parametrize("number", [socket.EAI_AGAIN, socket.EAI_FAIL, socket.EAI_MEMORY, socket.EAI_SYSTEM])
def test_a_failing_look_up_is_our_fault(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Where the resolver fails, nothing is known of the skill, and nothing is remembered."""
    answering(monkeypatch, failing(number))

    with pytest.raises(FleetFault):
        asyncio.run(resolve("a.example", 80, ()))

    answering(monkeypatch, found("1.1.1.1"))
    assert asyncio.run(resolve("a.example", 80, ())).ip == "1.1.1.1"


def test_a_name_that_does_not_exist_is_the_skills(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever publishes an endpoint that has no address answers for it."""
    answering(monkeypatch, failing(socket.EAI_NONAME))

    with pytest.raises(NoSuchHost):
        asyncio.run(resolve("a.example", 80, ()))


@pytest.mark.parametrize("host", ["a..b", "x" * 300, ""])
def test_what_cannot_be_a_name_is_the_skills(host: str) -> None:
    """An impossible name is no crash."""
    with pytest.raises(NoSuchHost):
        asyncio.run(resolve(host, 80, ()))


def test_an_address_with_a_zone_is_refused() -> None:
    """A zone names an interface of ours."""
    with pytest.raises(BadJob, match="zone"):
        asyncio.run(resolve("[fe80::1%lo]", 80, ("fe80::/10",)))


def test_a_network_that_is_none_is_named() -> None:
    """A typing mistake in --allow-network is said, not read as nothing."""
    with pytest.raises(BadJob, match="loopback"):
        asyncio.run(resolve("127.0.0.1", 80, ("loopback",)))
