from __future__ import annotations

import select
import socket
import sys
from collections.abc import Iterator

import pytest

from workers import timestamps
from workers.timestamps import Instant

kernel_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps packets")


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two connected TCP sockets."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
        with ours, theirs:
            yield ours, theirs


@kernel_only
def test_stamps_lie_between_the_readings_around_them(pair: tuple[socket.socket, socket.socket]) -> None:
    """Departure and arrival are stamped between the instants read before the send and after the receive, in order."""
    ours, theirs = pair
    timestamps.switch_on()
    assert timestamps.enable(ours)

    start = Instant.now()
    ours.send(b"hello")
    theirs.sendall(theirs.recv(5))
    select.select([ours], [], [], 10)
    data, arrived_ns = timestamps.receive(ours, 100)
    departed_ns = timestamps.departures(ours).get(4)
    end = Instant.now()

    assert data == b"hello"
    assert departed_ns is not None
    assert arrived_ns is not None
    assert start.real_ns <= departed_ns <= arrived_ns <= end.real_ns


@kernel_only
def test_each_send_is_known_by_its_last_byte(pair: tuple[socket.socket, socket.socket]) -> None:
    """Departures are numbered by the last byte of their send, counted from when stamping was switched on."""
    ours, theirs = pair
    ours.send(b"before")
    theirs.recv(6)
    timestamps.enable(ours)

    for data in (b"abc", b"de"):
        ours.send(data)
        theirs.recv(100)

    assert set(timestamps.departures(ours)) == {2, 4}
    assert timestamps.departures(ours) == {}


@kernel_only
def test_stamping_is_switched_on_once() -> None:
    """However often it is asked for, one socket is held for it."""
    for _ in range(3):
        timestamps.switch_on()

    assert len(timestamps._held) == 1


def test_without_stamping_there_are_no_stamps(pair: tuple[socket.socket, socket.socket]) -> None:
    """A socket that nobody asked the kernel to stamp yields data and no time."""
    ours, theirs = pair
    theirs.sendall(b"x")

    assert timestamps.receive(ours, 1) == (b"x", None)
    assert timestamps.departures(ours) == {}


def test_a_socket_that_cannot_be_stamped_says_so() -> None:
    """Where the kernel refuses, stamping is off and nothing is raised."""
    sock = socket.socket()
    sock.close()

    assert not timestamps.enable(sock)


def test_two_readings_of_steady_clocks_show_no_step() -> None:
    """Two instants read one after the other fit together."""
    start, end = Instant.now(), Instant.now()

    assert not timestamps.stepped(start, end)


@pytest.mark.parametrize("step_ns", [-1_000_000, 1_000_000])
def test_a_clock_that_was_set_shows(step_ns: int) -> None:
    """A step of the realtime clock, either way, beyond what lies between the readings is seen."""
    start = Instant(before_ns=0, real_ns=10_000, after_ns=20)
    end = Instant(before_ns=5_000, real_ns=15_000 + step_ns, after_ns=5_020)

    assert timestamps.stepped(start, end)
