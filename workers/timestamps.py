"""The kernel's clock: when bytes left this machine and when they reached it (Linux ``SO_TIMESTAMPING``, software).

A busy interpreter reads a clock late: beside 4 spinning threads the application's own reading of a 20 ms answer is
off by tens of milliseconds. The kernel stamps a segment when it is handed to the device and when it comes in, so that
neither the interpreter lock nor the scheduler is billed to the skill. It works without privileges.

The stamps are on the realtime clock, which somebody may set; `Instant` reads both clocks at once, so that a step
between two instants shows and the stamps of that exchange are dropped.

Source: Linux, Documentation/networking/timestamping.rst; include/uapi/linux/net_tstamp.h and errqueue.h.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import threading
import time

from msgspec import Struct

# The 64-bit layout, the same on every architecture of Linux 5.1 and later; an older kernel refuses it.
SO_TIMESTAMPING_NEW = 65
TX_SOFTWARE, RX_SOFTWARE, SOFTWARE, OPT_ID, OPT_TSONLY = 1 << 1, 1 << 3, 1 << 4, 1 << 7, 1 << 11
FLAGS = TX_SOFTWARE | RX_SOFTWARE | SOFTWARE | OPT_ID | OPT_TSONLY

_RECVERR = {(socket.IPPROTO_IP, 11), (socket.IPPROTO_IPV6, 25)}
_ORIGIN_TIMESTAMPING = 4
_STAMPS = struct.Struct("=6q")
_EXTENDED_ERROR = struct.Struct("=IBBBBII")
_ANCILLARY_BYTES = 512
_MSG_ERRQUEUE = getattr(socket, "MSG_ERRQUEUE", 0)
_QUEUED_MAX = 64
_READINGS, _CLOSE_NS = 3, 20_000

SWITCH_ON_S = 0.25
_switching = threading.Lock()
_held: list[int] = []


class Instant(Struct, frozen=True):
    """One moment on both clocks, in nanoseconds: realtime was read between two readings of the monotonic clock."""

    before_ns: int
    real_ns: int
    after_ns: int

    @classmethod
    def now(cls) -> Instant:
        """Read both clocks; again, a few times, when another thread came between the readings."""
        for _ in range(_READINGS):
            instant = cls(time.perf_counter_ns(), time.time_ns(), time.perf_counter_ns())
            if instant.after_ns - instant.before_ns <= _CLOSE_NS:
                break
        return instant


def stepped(start: Instant, end: Instant) -> bool:
    """Whether the realtime clock was set between *start* and *end*: its span does not fit into the monotonic one."""
    span_ns = end.real_ns - start.real_ns
    return not end.before_ns - start.after_ns <= span_ns <= end.after_ns - start.before_ns


def switch_on() -> None:
    """Have the kernel stamp what comes in, for as long as this process lives; at once from the second call on.

    The kernel stamps only while some socket wants it, and begins a little after the first one asks: without this, a
    quick skill's first answers would go unstamped. Takes at most `SWITCH_ON_S`; where it does not work, samples fall
    back to the application's clock.
    """
    if sys.platform != "linux":
        return
    with _switching:
        if _held or not (probe := _stamped_socket()):
            return
        with probe, contextlib.suppress(OSError):
            deadline = time.monotonic() + SWITCH_ON_S
            while time.monotonic() < deadline:
                probe.send(b"?")
                if receive(probe, 1)[1] is not None:
                    break
                time.sleep(SWITCH_ON_S / 50)
            # Detached, the socket stays open until the process ends, and the stamping with it.
            _held.append(probe.detach())


def enable(sock: socket.socket) -> bool:
    """Ask the kernel to stamp what *sock*, a connected TCP socket, sends and receives; False where it cannot.

    From here on the bytes sent are numbered from zero, and a stamp names the last byte of the send it belongs to.
    """
    if sys.platform != "linux":
        return False
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING_NEW, FLAGS)
    except OSError:
        return False
    return True


def receive(sock: socket.socket, size: int) -> tuple[bytes, int | None]:
    """Up to *size* bytes, and when the last of them arrived (realtime, ns), or None where the kernel did not say.

    Raises:
        BlockingIOError: If nothing is there.
        OSError: If the connection broke.
    """
    data, ancillary, _, _ = sock.recvmsg(size, _ANCILLARY_BYTES)
    return data, _stamp(ancillary)


def departures(sock: socket.socket) -> dict[int, int]:
    """The stamps in the error queue: the number of a send's last byte (modulo 2**32) to when it left (realtime, ns)."""
    found: dict[int, int] = {}
    for _ in range(_QUEUED_MAX):
        try:
            _, ancillary, _, _ = sock.recvmsg(0, _ANCILLARY_BYTES, _MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except OSError:
            # Nothing (more) is queued, or the connection broke, which the next receive reports.
            break
        number, stamp = _send_number(ancillary), _stamp(ancillary)
        if number is not None and stamp is not None:
            found.setdefault(number, stamp)  # a retransmission is stamped again
    return found


def queued_ns() -> int:
    """How long this thread, since it began, was ready to run and had no core; 0 where the kernel does not say.

    Source: Linux, Documentation/scheduler/sched-stats.rst (``/proc/<pid>/schedstat``).
    """
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            return int(file.read(128).split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _stamped_socket() -> socket.socket | None:
    try:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    except OSError:
        return None
    try:
        sock.settimeout(SWITCH_ON_S)
        sock.bind(("127.0.0.1", 0))
        sock.connect(sock.getsockname())  # it hears nobody but itself
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING_NEW, RX_SOFTWARE | SOFTWARE)
    except OSError:
        sock.close()
        return None
    return sock


def _stamp(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPING_NEW and len(data) >= _STAMPS.size:
            seconds, nanoseconds = _STAMPS.unpack_from(data)[:2]
            # All zero: the segment came in before the kernel had switched its stamping on.
            return (seconds * 1_000_000_000 + nanoseconds) or None
    return None


def _send_number(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    for level, kind, data in ancillary:
        if (level, kind) in _RECVERR and len(data) >= _EXTENDED_ERROR.size:
            _, origin, _, _, _, _, number = _EXTENDED_ERROR.unpack_from(data)
            if origin == _ORIGIN_TIMESTAMPING:
                return int(number)
    return None
