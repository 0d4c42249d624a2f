"""One TCP connection to a skill, with TLS or without, whose bytes come with the kernel's time of their arrival.

The socket belongs to one thread and is waited for there, never on the event loop. TLS runs in memory (`ssl.MemoryBIO`),
because `ssl.SSLSocket` reads the socket itself and would drop the stamps.
"""

from __future__ import annotations

import contextlib
import errno
import math
import select
import socket
import ssl
import time

from workers import timestamps
from workers.adapters._blame import OURS
from workers.egress import Address
from workers.faults import FleetFault

RECEIVE_BYTES = 65_536
FIRST_SEND_BYTES = 8_192
TLS_RECORD_BYTES = 16_384
TICKETS_MAX = 8
LATE_WAITS = 64
"""After the deadline an exchange may still take what lies in the socket: our thread may have been held up meanwhile."""


class Cut(Exception):
    """The connection was refused or cut, or could not be secured."""


class OutOfTime(Exception):
    """The deadline passed."""


class Channel:
    """A connection that is opened once and then sent to and received from, always up to a deadline.

    Deadlines are readings of `time.perf_counter_ns`. *kernel* False leaves the kernel's clock alone. After `open`,
    *connect_ms* and *tls_ms* say how long the set-up took (application's reading; *tls_ms* is None without TLS),
    *stamped* whether the kernel gives the times, and *at_home* whether the other side runs on this very machine.
    """

    def __init__(
        self, address: Address, *, tls: ssl.SSLContext | None = None, server_name: str = "", kernel: bool = True
    ) -> None:
        self._address = address
        self._kernel = kernel
        self._socket: socket.socket | None = None
        self._poll = select.poll()
        self._sent_bytes = 0
        self._late_waits = 0
        self._departures: dict[int, int] = {}
        self._aborted = False
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.wrap_bio(self._incoming, self._outgoing, server_hostname=server_name) if tls else None
        self.stamped = False
        self.at_home = False
        self.connect_ms = 0.0
        self.tls_ms: float | None = None

    def open(self, deadline_ns: int) -> None:
        """Connect, and agree on TLS.

        Raises:
            Cut: If the other side refuses, or its certificate does not hold.
            OutOfTime: If it takes too long.
            FleetFault: If our own machine or network cannot connect.
        """
        if self._kernel:
            timestamps.switch_on()
        started_ns = time.perf_counter_ns()
        self._connect(deadline_ns)
        connected_ns = time.perf_counter_ns()
        self.connect_ms = (connected_ns - started_ns) / 1e6
        if self._tls is not None:
            self._shake_hands(self._tls, deadline_ns)
            self.tls_ms = (time.perf_counter_ns() - connected_ns) / 1e6

    def send(self, data: bytes, deadline_ns: int) -> int:
        """Send *data* whole; the number by which `departure` knows its first piece.

        Raises:
            Cut: If the connection broke.
            OutOfTime: If the other side does not take it in time.
            FleetFault: If our own machine or network failed.
        """
        self._late_waits = 0
        if self._tls is not None:
            try:
                self._tls.write(data)
            except ssl.SSLError as error:
                raise Cut(f"TLS failed: {_reason(error)}") from error
            data = self._outgoing.read()
        return self._send_raw(data, deadline_ns)

    def departure(self, number: int) -> int | None:
        """When the piece *number* left this machine (realtime, ns), or None where the kernel did not say."""
        self._note_departures()
        stamp = self._departures.get(number)
        self._departures.clear()
        return stamp

    def receive(self, deadline_ns: int) -> tuple[bytes, int | None]:
        """The next bytes of the answer and when the last of them arrived (realtime, ns); no bytes at the end.

        A TLS record that brings no plaintext, such as a session ticket, is no part of the answer and waited over.

        Raises:
            Cut: If the connection broke.
            OutOfTime: If nothing comes in time.
            FleetFault: If our own machine or network failed.
        """
        while True:
            data, stamp = self._receive_raw(deadline_ns)
            if self._tls is None:
                return data, stamp
            plaintext, ended = self._decrypt(self._tls, data)
            if plaintext or ended or not data:
                return plaintext, stamp

    def quiet(self) -> bool:
        """Whether the connection is still open and nothing unasked-for has come, so that it can be used again."""
        if self._socket is None:
            return False
        for _ in range(TICKETS_MAX):
            try:
                data, _ = timestamps.receive(self._socket, RECEIVE_BYTES)
                if self._tls is None or not data:
                    return False
                plaintext, ended = self._decrypt(self._tls, data)
            except BlockingIOError:
                return True
            except (OSError, Cut):
                return False
            if plaintext or ended:
                return False
        return False

    def abort(self) -> None:
        """End, from another thread, whatever is being waited for."""
        self._aborted = True
        if (sock := self._socket) is not None:
            # Not close(): it would not wake the other thread, and its descriptor could be reused under it.
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection. Closing twice is fine."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self, deadline_ns: int) -> None:
        try:
            sock = self._socket = socket.socket(self._address.family, socket.SOCK_STREAM)
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._poll.register(sock, select.POLLOUT)
            failed = sock.connect_ex((self._address.ip, self._address.port))
            if failed == errno.EINPROGRESS:
                self._wait(select.POLLOUT, deadline_ns)
                failed = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if failed:
                raise OSError(failed, errno.errorcode.get(failed, "unknown error"))
            self.at_home = sock.getsockname()[0] == self._address.ip or self._address.ip.startswith("127.")
        except OSError as error:
            self.close()
            raise _blamed("no connection", error) from error
        self.stamped = self._kernel and timestamps.enable(sock)

    def _shake_hands(self, tls: ssl.SSLObject, deadline_ns: int) -> None:
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                self._send_raw(self._outgoing.read(), deadline_ns)
                data, _ = self._receive_raw(deadline_ns)
                if not data:
                    raise Cut("connection closed during the TLS handshake") from None
                self._incoming.write(data)
            except (ssl.SSLError, ValueError) as error:
                raise Cut(f"TLS failed: {_reason(error)}") from error
            else:
                self._send_raw(self._outgoing.read(), deadline_ns)
                return

    def _decrypt(self, tls: ssl.SSLObject, data: bytes) -> tuple[bytes, bool]:
        self._incoming.write(data)
        pieces = []
        try:
            while piece := tls.read(TLS_RECORD_BYTES):
                pieces.append(piece)
        except ssl.SSLWantReadError:
            return b"".join(pieces), False
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b"".join(pieces), True
        except ssl.SSLError as error:
            raise Cut(f"TLS failed: {_reason(error)}") from error
        return b"".join(pieces), True

    def _send_raw(self, data: bytes, deadline_ns: int) -> int:
        sock = self._live()
        rest, first = memoryview(data), -1
        # The stamp is that of a send's last byte, so the first send is small enough to leave in one go: any first
        # congestion window takes it, and the time of departure is not that of the end of a long upload.
        size = FIRST_SEND_BYTES
        while rest:
            try:
                taken = sock.send(rest[:size])
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline_ns)
                continue
            except OSError as error:
                raise _blamed("connection broke", error) from error
            self._sent_bytes += taken
            rest = rest[taken:]
            if first < 0:
                first, size = (self._sent_bytes - 1) % 2**32, RECEIVE_BYTES
        return first

    def _receive_raw(self, deadline_ns: int) -> tuple[bytes, int | None]:
        sock = self._live()
        while True:
            self._wait(select.POLLIN, deadline_ns)
            try:
                return timestamps.receive(sock, RECEIVE_BYTES)
            except BlockingIOError:
                continue
            except OSError as error:
                raise _blamed("connection broke", error) from error

    def _wait(self, event: int, deadline_ns: int) -> None:
        sock = self._live()
        self._poll.modify(sock, event)
        while True:
            left_ns = deadline_ns - time.perf_counter_ns()
            if left_ns <= 0:
                self._late_waits += 1
            ready = self._poll.poll(max(math.ceil(left_ns / 1e6), 0))
            if self._aborted:
                raise Cut("given up on our side")
            if left_ns <= 0 and (not ready or self._late_waits > LATE_WAITS):
                raise OutOfTime
            if not ready:
                continue
            [(_, events)] = ready
            # An unread departure stamp makes the socket ready at once, for ever; so it is taken out here.
            if events & select.POLLERR and self._note_departures() and not events & ~select.POLLERR:
                continue
            return

    def _note_departures(self) -> bool:
        if not self.stamped or self._socket is None:
            return False
        found = timestamps.departures(self._socket)
        self._departures = found | self._departures
        return bool(found)

    def _live(self) -> socket.socket:
        if self._socket is None or self._aborted:
            raise Cut("given up on our side" if self._aborted else "connection is closed")
        return self._socket


def _blamed(what: str, error: OSError) -> Cut | FleetFault:
    if error.errno in OURS or error.errno == errno.EAFNOSUPPORT:
        return FleetFault(f"our side, {what}: {_reason(error)}")
    return Cut(f"{what}: {_reason(error)}")


def _reason(error: Exception) -> str:
    """A short reason without what the other side wrote."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, ssl.SSLError):
        return (error.reason or "broken record").replace("_", " ").lower()
    if isinstance(error, OSError) and error.errno:
        return errno.errorcode.get(error.errno, str(error.errno))
    return type(error).__name__
