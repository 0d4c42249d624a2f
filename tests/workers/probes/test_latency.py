from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
import pytest

from tests.raw_server import RawServer, answer, cuts, drips, hangs, keeps_alive, says_close
from workers.adapters import http
from workers.faults import BadJob, FleetFault
from workers.probes.latency import judge_quiet, judge_sustained
from workers.probes.quiet import GIVE_UP_AFTER
from workers.session import BASELINE_TRIES, Session
from workers.wire.job import QuietJob, SustainedJob
from workers.wire.result import Outcome, Series, Verdict
from workers.wire.skill import Access, SkillRef

# However busy the machine of the tests is, no sample is taken again where a test does not ask for it.
QUIET = QuietJob(id="q", probe="latency/quiet", retakes=0)
SUSTAINED = SustainedJob(id="s", probe="latency/sustained", rate_per_s=100.0, duration_s=0.2)


def skill(endpoint: str, **fields: Any) -> SkillRef:
    return msgspec.structs.replace(
        SkillRef(
            id="s",
            name="s",
            version="1.0.0",
            digest="sha256:0",
            access=Access(adapter="http", endpoint=endpoint),
            input_schema={"type": "object"},
            example={"text": "hello"},
            allow_networks=("127.0.0.0/8",),
        ),
        **fields,
    )


def judged(judge: Callable[[Session], Awaitable[Verdict]], endpoint: str, **fields: Any) -> Verdict:
    """The verdict of *judge* on the skill at *endpoint*, through the real adapter."""

    async def main() -> Verdict:
        adapter = http.open()
        try:
            return await judge(Session(skill(endpoint, **fields), adapter))
        finally:
            await adapter.aclose()

    return asyncio.run(main())


def quiet(server: RawServer, job: QuietJob = QUIET, *, kernel: bool = True, **fields: Any) -> Verdict:
    return judged(
        lambda session: judge_quiet(job, session, kernel=kernel), f"http://127.0.0.1:{server.port}/", **fields
    )


def sustained(server: RawServer, job: SustainedJob = SUSTAINED) -> Verdict:
    return judged(lambda session: judge_sustained(job, session), f"http://127.0.0.1:{server.port}/")


def of(verdict: Verdict) -> Series:
    assert verdict.series is not None
    return verdict.series


@pytest.mark.parametrize("handler", [keeps_alive, says_close])
def test_twenty_answers_after_the_warm_up(handler: Callable[[RawServer, socket.socket], None]) -> None:
    """A good skill has one sample for each measured request, whether it keeps its connections or not."""
    with RawServer(handler) as server:
        verdict = quiet(server)

        assert (verdict.outcome, verdict.score, verdict.requests) == (Outcome.PASS, 1.0, 21)
        assert len(server.requests) == 21
        assert all(json.loads(request.partition(b"\r\n\r\n")[2]) == {"text": "hello"} for request in server.requests)
        found = of(verdict)
        assert (found.planned, len(found.samples_ms), found.failures, found.timeouts) == (20, 20, 0, 0)
        assert verdict.evidence.startswith("20 of 20 answered; p50 ")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps packets")
def test_the_kernels_samples_never_exceed_the_applications() -> None:
    """Each kernel sample is at most the application's reading of the same request; their difference is our lag."""
    with RawServer(keeps_alive) as server:
        found = of(quiet(server))

    assert (found.clock, found.fallbacks) == ("kernel", 0)
    pairs = zip(found.first_byte_ms, found.samples_ms, found.app_ms, strict=True)
    assert all(0 < first <= sample <= app for first, sample, app in pairs)


def test_a_sample_is_taken_again_at_most_twice_and_then_flagged() -> None:
    """Where our machine is always in the way, each request is sent three times and each sample flagged."""
    job = QuietJob(id="q", probe="latency/quiet", requests=4, max_lag_ms=1e-9)
    with RawServer(keeps_alive) as server:
        verdict = quiet(server, job)

        assert (verdict.requests, len(server.requests)) == (1 + 3 * 4, 1 + 3 * 4)

    found = of(verdict)
    assert (verdict.outcome, found.tries, found.flagged) == (Outcome.PASS, (3, 3, 3, 3), 4)
    assert all(lag > 0 for lag in found.lag_ms)
    assert "4 read while our machine was in the way" in verdict.evidence


def test_a_load_is_flagged_and_not_taken_again() -> None:
    """Under sustained load a doubtful sample is only told: another request would make another load."""
    with RawServer(keeps_alive) as server:
        verdict = sustained(server, msgspec.structs.replace(SUSTAINED, max_lag_ms=1e-9))

        assert len(server.requests) == 20

    assert of(verdict).flagged == 20


def test_without_timestamps_the_series_says_so() -> None:
    """On the application's clock alone the samples are its readings and the uncertainty is more than the kernel's."""
    with RawServer(keeps_alive) as server:
        verdict = quiet(server, kernel=False)

    found = of(verdict)
    assert (found.clock, found.samples_ms) == ("monotonic", found.app_ms)
    assert found.uncertainty_ms > 0.1
    assert "monotonic clock" in verdict.evidence


def test_a_tenth_of_failures_is_partial() -> None:
    """A skill that fails every tenth request keeps nine tenths of its score, and the first reason is told."""

    def every_tenth(server: RawServer, sock: socket.socket) -> None:
        while server.request(sock):
            sock.sendall(answer(b"{}", 503) if len(server.requests) % 10 == 0 else answer())

    with RawServer(every_tenth) as server:
        verdict = quiet(server)

    assert (verdict.outcome, verdict.score) == (Outcome.PARTIAL, 0.9)
    assert (len(of(verdict).samples_ms), of(verdict).failures) == (18, 2)
    assert verdict.evidence.endswith("2 failed, the first: HTTP 503")


@pytest.mark.parametrize("handler", [hangs, drips])
def test_a_hanging_skill_is_given_up(handler: Callable[[RawServer, socket.socket], None]) -> None:
    """After five timeouts in a row the rest of the series counts as timeouts without being sent."""
    with RawServer(handler) as server:
        verdict = quiet(server, msgspec.structs.replace(QUIET, timeout_ms=50))

        assert len(server.requests) == GIVE_UP_AFTER

    assert (verdict.outcome, verdict.score, of(verdict).timeouts) == (Outcome.TIMEOUT, 0.0, 20)
    assert verdict.evidence == "0 of 20 answered; 20 timed out"


def test_a_skill_that_cuts_every_connection_fails() -> None:
    """Cut connections are the skill's failures, every one of them."""
    with RawServer(cuts) as server:
        verdict = quiet(server)

    assert (verdict.outcome, verdict.score, of(verdict).failures) == (Outcome.FAIL, 0.0, 20)


def test_a_skill_that_is_not_there_fails() -> None:
    """A refused connection is the skill's failure, not ours."""
    with RawServer(keeps_alive) as server:
        port = server.port

    verdict = judged(lambda session: judge_quiet(QUIET, session), f"http://127.0.0.1:{port}/")

    assert (verdict.outcome, verdict.requests, of(verdict).failures) == (Outcome.FAIL, 0, 20)


def test_a_name_that_does_not_exist_fails() -> None:
    """A host that nobody has named is the skill's failure, in both series."""
    for judge in (lambda s: judge_quiet(QUIET, s), lambda s: judge_sustained(SUSTAINED, s)):
        verdict = judged(judge, f"http://{'x' * 64}.invalid/")

        assert (verdict.outcome, verdict.score, of(verdict).failures) == (Outcome.FAIL, 0.0, 20)


def test_an_address_that_is_not_allowed_is_a_bad_job() -> None:
    """The series never reaches an address that the run does not allow."""
    with RawServer(keeps_alive) as server:
        with pytest.raises(BadJob, match="--allow-network"):
            quiet(server, allow_networks=())

        assert server.connections == 0


@pytest.mark.parametrize(
    "job",
    [
        msgspec.structs.replace(QUIET, requests=0),
        msgspec.structs.replace(QUIET, warmup=-1),
        msgspec.structs.replace(QUIET, requests=10**9),
        msgspec.structs.replace(QUIET, timeout_ms=0),
        msgspec.structs.replace(QUIET, retakes=-1),
        msgspec.structs.replace(QUIET, retakes=1_000),
        msgspec.structs.replace(QUIET, max_lag_ms=float("nan")),
    ],
)
def test_a_quiet_series_out_of_bounds_is_a_bad_job(job: QuietJob) -> None:
    """A job that would run for ever, or not at all, is refused before any traffic."""
    with RawServer(keeps_alive) as server:
        with pytest.raises(BadJob, match="bounds"):
            quiet(server, job)

        assert server.connections == 0


@pytest.mark.parametrize(
    "job",
    [
        msgspec.structs.replace(SUSTAINED, rate_per_s=float("nan")),
        msgspec.structs.replace(SUSTAINED, rate_per_s=-1.0),
        msgspec.structs.replace(SUSTAINED, rate_per_s=1e9),
        msgspec.structs.replace(SUSTAINED, duration_s=float("inf")),
        msgspec.structs.replace(SUSTAINED, max_in_flight=0),
        msgspec.structs.replace(SUSTAINED, max_in_flight=10_000),
    ],
)
def test_a_load_out_of_bounds_is_a_bad_job(job: SustainedJob) -> None:
    """A load without end, or beyond all measure, is refused before any traffic."""
    with RawServer(keeps_alive) as server:
        with pytest.raises(BadJob, match="bounds"):
            sustained(server, job)

        assert server.connections == 0


def test_a_load_sends_what_is_planned() -> None:
    """Rate times duration requests are sent, over no more connections than allowed."""
    with RawServer(keeps_alive) as server:
        verdict = sustained(server)

        assert (verdict.outcome, verdict.requests, len(server.requests)) == (Outcome.PASS, 20, 20)
        assert server.connections <= SUSTAINED.max_in_flight

    found = of(verdict)
    assert len(found.samples_ms) == 20
    assert all(sample <= app for sample, app in zip(found.samples_ms, found.app_ms, strict=True))


def test_a_load_counts_from_when_each_request_was_due() -> None:
    """A skill that serves one request at a time, slower than they come, makes each wait longer than the last."""

    def slow(server: RawServer, sock: socket.socket) -> None:
        while server.request(sock):
            server.closing.wait(0.03)
            sock.sendall(answer())

    job = SustainedJob(id="s", probe="p", rate_per_s=100.0, duration_s=0.1, max_in_flight=1)
    with RawServer(slow) as server:
        found = of(sustained(server, job))

    assert list(found.samples_ms) == sorted(found.samples_ms)
    assert found.samples_ms[-1] > 9 * (30 - 10)


def test_a_load_on_a_hanging_skill_ends() -> None:
    """Deadlines count from the due times: a load on a skill that never answers ends, and all of it timed out."""
    job = msgspec.structs.replace(SUSTAINED, timeout_ms=100, max_in_flight=2)
    with RawServer(hangs) as server:
        verdict = sustained(server, job)

    assert (verdict.outcome, of(verdict).timeouts, of(verdict).failures) == (Outcome.TIMEOUT, 20, 0)


def test_the_publishers_pace_is_kept() -> None:
    """A skill that asks for so many requests a second is sent no more, in the quiet series too."""
    job = msgspec.structs.replace(QUIET, requests=4)
    with RawServer(keeps_alive) as server:
        begun = time.perf_counter()
        quiet(server, job, max_requests_per_second=50.0)
        took_s = time.perf_counter() - begun

    assert took_s >= 4 / 50


def test_no_descriptors_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """When our machine has no socket left nothing is said of the skill."""

    def refuse(*_: object) -> socket.socket:
        raise OSError(24, "Too many open files")

    async def main(port: int) -> None:
        adapter = http.open()
        session = Session(skill(f"http://127.0.0.1:{port}/"), adapter)
        with monkeypatch.context() as patched:
            patched.setattr("workers.channel.socket.socket", refuse)
            await judge_sustained(SUSTAINED, session)

    with RawServer(keeps_alive) as server, pytest.raises(FleetFault, match="EMFILE"):
        asyncio.run(main(server.port))


@pytest.mark.parametrize("probe", ["quiet", "sustained"])
def test_cancelling_ends_the_threads(probe: str) -> None:
    """A cancelled series leaves no thread waiting for a skill that hangs."""
    begun = threading.Event()

    def hangs_loudly(server: RawServer, sock: socket.socket) -> None:
        server.request(sock)
        begun.set()
        server.closing.wait(60)

    async def main(port: int) -> list[threading.Thread]:
        session = Session(skill(f"http://127.0.0.1:{port}/"), http.open())
        judge = judge_quiet(QUIET, session) if probe == "quiet" else judge_sustained(SUSTAINED, session)
        task = asyncio.ensure_future(judge)
        await asyncio.to_thread(begun.wait, 30)
        ours = [thread for thread in threading.enumerate() if thread.name == "latency"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return ours

    with RawServer(hangs_loudly) as server:
        threads = asyncio.run(main(server.port))
        for thread in threads:
            thread.join(20)

        assert threads
        assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("judge", [partial(judge_quiet, QUIET), partial(judge_sustained, SUSTAINED)])
def test_refusals_of_an_example_of_ours_are_not_timed(judge: Callable[[Session], Awaitable[Verdict]]) -> None:
    """How quickly a skill refuses what nobody said is valid says nothing of it."""

    def refuses(server: RawServer, sock: socket.socket) -> None:
        while server.request(sock):
            sock.sendall(b"HTTP/1.1 422 No\r\nContent-Length: 2\r\n\r\n{}")

    with RawServer(refuses) as server:
        with pytest.raises(BadJob, match="no valid call is known"):
            judged(judge, f"http://127.0.0.1:{server.port}/", guessed=True)

        assert len(server.requests) == BASELINE_TRIES
