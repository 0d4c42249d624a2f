from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.raw_server import RawServer, answer, cuts, drips, hangs, keeps_alive, says_close
from workers import timestamps
from workers.adapters._adapter import HttpRequest
from workers.egress import Address
from workers.faults import BadJob, FleetFault
from workers.observation import Broke, TimedOut
from workers.stopwatch import BODY_BYTES, Exchange, Stopwatch, Target, Timed, aim

AMPLE_NS = 30_000_000_000
SHORT_NS = 300_000_000
kernel_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps packets")


def target(server: RawServer, body: bytes = b'{"a": 1}', tls: ssl.SSLContext | None = None) -> Target:
    request = HttpRequest(method="POST", url=f"{server.scheme}://localhost:{server.port}/x?y=1", headers=(), body=body)
    return aim(request, (Address(socket.AF_INET, "127.0.0.1", server.port),), tls)


def timed(watch: Stopwatch, budget_ns: int = AMPLE_NS) -> Exchange:
    return watch.time(time.perf_counter_ns() + budget_ns)


def once(handler: Callable[[RawServer, socket.socket], None], budget_ns: int = AMPLE_NS) -> Exchange:
    with RawServer(handler) as server:
        watch = Stopwatch(target(server))
        try:
            return timed(watch, budget_ns)
        finally:
            watch.close()


def says(data: bytes) -> Callable[[RawServer, socket.socket], None]:
    """A server that takes the request, sends *data* and closes."""

    def handler(server: RawServer, sock: socket.socket) -> None:
        server.request(sock)
        sock.sendall(data)

    return handler


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost, with its key in the same file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the openssl command is needed to make a certificate")
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    subprocess.run(
        f"{openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
        f" -addext subjectAltName=DNS:localhost -keyout {path.name} -out {path.name}.crt".split(),
        cwd=path.parent,
        check=True,
        capture_output=True,
    )
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_sends_the_request_as_given() -> None:
    """Target, host, length and body arrive as the adapter made them."""
    with RawServer(keeps_alive) as server:
        watch = Stopwatch(target(server))

        found = timed(watch)
        watch.close()

        assert isinstance(found, Timed)
        assert (found.status, found.body) == (200, b'{"ok": true}')
        head, _, body = server.requests[0].partition(b"\r\n\r\n")
        assert head.startswith(b"POST /x?y=1 HTTP/1.1\r\n")
        assert f"Host: localhost:{server.port}".encode() in head
        assert body == b'{"a": 1}'


def test_keeps_one_connection_where_the_server_does() -> None:
    """A server that keeps connections alive is connected to once."""
    with RawServer(keeps_alive) as server:
        watch = Stopwatch(target(server))

        found = [timed(watch) for _ in range(5)]
        watch.close()

        assert all(isinstance(one, Timed) for one in found)
        assert (server.connections, watch.requests, len(watch.connect_ms)) == (1, 5, 1)


def test_connects_again_where_the_server_closes() -> None:
    """A server that closes after each answer is connected to for each request, and nothing fails."""
    with RawServer(says_close) as server:
        watch = Stopwatch(target(server))

        found = [timed(watch) for _ in range(3)]
        watch.close()

        assert all(isinstance(one, Timed) for one in found)
        assert (server.connections, watch.requests, len(watch.connect_ms)) == (3, 3, 3)


def test_an_idle_connection_that_was_closed_is_replaced() -> None:
    """A server that closes without a word after its answer costs a new connection and no failure."""
    with RawServer(says(answer())) as server:
        watch = Stopwatch(target(server))

        found = [timed(watch) for _ in range(4)]
        watch.close()

        assert all(isinstance(one, Timed) for one in found)
        assert server.connections == 4


def test_a_dropped_request_is_forgiven_once() -> None:
    """A used connection that ends without an answer is replaced once; from then on a drop is a failure."""

    def drops_second(server: RawServer, sock: socket.socket) -> None:
        server.request(sock)
        if len(server.requests) == 4:
            return
        sock.sendall(answer())
        server.request(sock)

    with RawServer(drops_second) as server:
        watch = Stopwatch(target(server))

        found = [type(timed(watch)) for _ in range(3)]
        watch.close()

        # Sent: 1 answered, 2 dropped and sent again as 3, 4 dropped on a connection of its own.
        assert found == [Timed, Timed, Broke]
        assert watch.requests == 4


def test_a_dropped_first_request_is_a_failure() -> None:
    """A fresh connection that ends without an answer is not tried again."""
    found = once(cuts)

    assert isinstance(found, Broke)


def test_a_server_that_never_answers_times_out() -> None:
    """Silence ends at the deadline."""
    found = once(hangs, SHORT_NS)

    assert isinstance(found, TimedOut)
    assert found.elapsed_ms >= found.deadline_ms


def test_a_dripping_answer_times_out() -> None:
    """The deadline covers the whole answer, not the wait for its next byte."""
    found = once(drips, SHORT_NS)

    assert isinstance(found, TimedOut)


@kernel_only
@pytest.mark.parametrize(("pause_s", "outcome"), [(0.01, Timed), (0.5, TimedOut)])
def test_an_answer_is_late_by_its_arrival_and_not_by_when_we_look(
    pause_s: float, outcome: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our thread is held up beyond the deadline between two halves of an answer; the kernel knows when they came."""
    receive = timestamps.receive

    def held_up(sock: socket.socket, size: int) -> tuple[bytes, int | None]:
        got = receive(sock, size)
        time.sleep(1.0)
        return got

    def in_two(server: RawServer, sock: socket.socket) -> None:
        server.request(sock)
        sock.sendall(answer()[:20])
        time.sleep(pause_s)
        sock.sendall(answer()[20:])

    monkeypatch.setattr(timestamps, "receive", held_up)
    found = once(in_two, SHORT_NS)

    assert isinstance(found, outcome)


def test_a_server_that_reads_nothing_times_out() -> None:
    """A request that the server does not take ends at the deadline."""

    def reads_nothing(server: RawServer, sock: socket.socket) -> None:
        server.closing.wait(60)

    with RawServer(reads_nothing) as server:
        watch = Stopwatch(target(server, body=b" " * 30_000_000))

        found = timed(watch, SHORT_NS)
        watch.close()

        assert isinstance(found, TimedOut)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "without an answer"),
        (b"\x00\xff garbage \r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 X\r\nContent-Length: 10\r\n\r\n12345", "not HTTP"),
        (b"HTTP/1.1 200 X\r\nContent-Length: 9\r\nContent-Length: 8\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 X\r\nA: " + b"a" * 200_000, "not HTTP"),
        (b"HTTP/1.1 100 C\r\n\r\n" * 200_000, "on the wire"),
        (answer(b" " * (BODY_BYTES + 1)), f"more than {BODY_BYTES}"),
        (b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 500_000, "on the wire"),
    ],
    ids=["nothing", "garbage", "cut short", "two lengths", "huge header", "endless 100", "huge body", "tiny chunks"],
)
def test_a_broken_answer_is_the_skills_failure(data: bytes, reason: str) -> None:
    """What is no bounded HTTP/1.1 answer is a broken exchange whose reason quotes nothing of it."""
    found = once(says(data))

    assert isinstance(found, Broke)
    assert reason in found.reason
    assert "garbage" not in found.reason


def test_an_answer_that_ends_with_its_connection_counts() -> None:
    """A body without a length ends where the connection does."""
    found = once(says(b"HTTP/1.1 200 X\r\n\r\n[1]"))

    assert isinstance(found, Timed)
    assert found.body == b"[1]"


def test_an_interim_response_is_not_the_answer() -> None:
    """A 100 Continue is passed over."""
    found = once(says(b"HTTP/1.1 100 Continue\r\n\r\n" + answer()))

    assert isinstance(found, Timed)
    assert found.status == 200


def test_a_refused_connection_is_the_skills_failure() -> None:
    """Where nobody listens the exchange broke, and nothing was sent."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    request = HttpRequest(method="POST", url=f"http://127.0.0.1:{port}/", headers=(), body=b"{}")
    watch = Stopwatch(aim(request, (Address(socket.AF_INET, "127.0.0.1", port),), None))

    found = timed(watch)

    assert isinstance(found, Broke)
    assert "ECONNREFUSED" in found.reason
    assert watch.requests == 0


def test_the_next_address_is_tried() -> None:
    """A name's first address that takes no connection does not hide its second."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        dead = listener.getsockname()[1]
    with RawServer(keeps_alive) as server:
        request = HttpRequest(method="POST", url="http://localhost/", headers=(), body=b"{}")
        addresses = (Address(socket.AF_INET, "127.0.0.1", dead), Address(socket.AF_INET, "127.0.0.1", server.port))
        watch = Stopwatch(aim(request, addresses, None))

        found = timed(watch)
        watch.close()

        assert isinstance(found, Timed)


def test_no_descriptor_left_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket that our own machine cannot give is a fault of the fleet."""

    def refuse(*_: object) -> socket.socket:
        raise OSError(24, "Too many open files")

    with RawServer(keeps_alive) as server:
        watch = Stopwatch(target(server))
        monkeypatch.setattr(socket, "socket", refuse)

        with pytest.raises(FleetFault, match="EMFILE"):
            timed(watch)
        monkeypatch.undo()


@kernel_only
def test_a_kernel_reading_lies_within_the_applications() -> None:
    """By the kernel's clock an answer takes no longer than the application saw, and its first byte no longer still."""
    with RawServer(keeps_alive) as server:
        watch = Stopwatch(target(server))
        timed(watch)

        found = [timed(watch) for _ in range(10)]
        watch.close()

    for one in found:
        assert isinstance(one, Timed)
        assert one.kernel
        assert 0 <= one.first_byte_ns <= one.elapsed_ns <= one.app_ns


def test_without_the_kernels_clock_the_application_reads() -> None:
    """Where stamping is off the sample is the application's own reading and says so."""
    with RawServer(keeps_alive) as server:
        watch = Stopwatch(target(server), kernel=False)

        found = timed(watch)
        watch.close()

    assert isinstance(found, Timed)
    assert not found.kernel
    assert 0 < found.first_byte_ns <= found.elapsed_ns == found.app_ns


def test_tls_is_timed_like_plain_http(certificate: Path) -> None:
    """Over TLS answers are timed one connection long, session tickets and all, with the handshake told apart."""
    with RawServer(keeps_alive, server_tls(certificate)) as server:
        context = ssl.create_default_context(cafile=f"{certificate}.crt")
        watch = Stopwatch(target(server, tls=context))

        found = [timed(watch) for _ in range(5)]
        watch.close()

        assert [one.body for one in found if isinstance(one, Timed)] == [b'{"ok": true}'] * 5
        assert all(one.first_byte_ns <= one.elapsed_ns <= one.app_ns for one in found if isinstance(one, Timed))
        assert (server.connections, len(watch.tls_ms)) == (1, 1)


def test_a_ticket_is_not_the_first_byte(certificate: Path) -> None:
    """What TLS sends for itself after the request does not start the answer."""
    waited_ns: list[int] = []

    def tickets_then_answer(server: RawServer, sock: socket.socket) -> None:
        # Python's server sends its TLS 1.3 tickets with the handshake's end: they are there long before the answer.
        server.request(sock)
        asked_ns = time.perf_counter_ns()
        server.closing.wait(0.05)
        waited_ns.append(time.perf_counter_ns() - asked_ns)
        sock.sendall(answer())

    with RawServer(tickets_then_answer, server_tls(certificate)) as server:
        watch = Stopwatch(target(server, tls=ssl.create_default_context(cafile=f"{certificate}.crt")))

        found = timed(watch)
        watch.close()

    assert isinstance(found, Timed)
    assert found.first_byte_ns >= waited_ns[0]


def test_a_certificate_that_does_not_hold_is_the_skills_failure(certificate: Path) -> None:
    """A self-signed certificate fails against the default context, before anything is sent."""
    with RawServer(keeps_alive, server_tls(certificate)) as server:
        watch = Stopwatch(target(server, tls=ssl.create_default_context()))

        found = timed(watch)

        assert isinstance(found, Broke)
        assert "self-signed" in found.reason
        assert watch.requests == 0


def test_garbage_instead_of_tls_is_the_skills_failure() -> None:
    """A plain server behind an https address breaks the handshake, not us."""

    def not_tls(server: RawServer, sock: socket.socket) -> None:
        sock.recv(1000)
        sock.sendall(b"HTTP/1.1 400 no\r\n\r\n")

    with RawServer(not_tls) as server:
        server.scheme = "https"
        watch = Stopwatch(target(server, tls=ssl.create_default_context()))

        found = timed(watch)

        assert isinstance(found, Broke)
        assert "TLS failed" in found.reason


def test_a_name_that_tls_cannot_carry_is_a_bad_job() -> None:
    """A host that no TLS greeting can name is refused before any traffic."""
    request = HttpRequest(method="POST", url="https://.example/", headers=(), body=b"{}")

    with pytest.raises(BadJob, match=r"HTTP/1\.1"):
        aim(request, (Address(socket.AF_INET, "127.0.0.1", 1),), ssl.create_default_context())


def test_abort_ends_a_wait() -> None:
    """An exchange that waits ends at once when another thread aborts it, and none begins after."""
    arrived = threading.Event()

    def waits(server: RawServer, sock: socket.socket) -> None:
        server.request(sock)
        arrived.set()
        server.closing.wait(60)

    with RawServer(waits) as server:
        watch = Stopwatch(target(server))
        found: list[Exchange] = []
        thread = threading.Thread(target=lambda: found.extend(timed(watch) for _ in range(2)))
        thread.start()
        assert arrived.wait(30)

        watch.abort()
        thread.join(20)

        assert [type(one) for one in found] == [Broke, Broke]
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("method", "url", "headers"),
    [
        ("PO ST", "http://h/", ()),
        ("POST", "http://h/", (("A", "b\r\nc: d"),)),
        ("POST", "http://h/", (("Content-Length", "5"),)),
        ("POST", "http://[::1/", ()),
    ],
    ids=["method", "header", "length", "url"],
)
def test_a_request_that_cannot_be_framed_is_a_bad_job(
    method: str, url: str, headers: tuple[tuple[str, str], ...]
) -> None:
    """What HTTP/1.1 cannot carry is refused before any traffic."""
    request = HttpRequest(method=method, url=url, headers=headers, body=b"{}")

    with pytest.raises(BadJob, match=r"HTTP/1\.1"):
        aim(request, (Address(socket.AF_INET, "127.0.0.1", 1),), None)
