"""How fast a skill answers: one request after the other, and under a steady load.

Quiet: each request is sent when the answer to the last one is there. Sustained: an open loop, request i is due at
i / rate whatever became of the others, and its latency counts from then; a closed loop would send less just when the
skill is slow, and so leave out the waiting that its users would have had (Tene's coordinated omission).

Each connection is driven by a blocking socket in a thread of its own: on the event loop, or in a shared pool, the other
work of the process would be billed to the skill. A call that is no plain HTTP request cannot be made there: the
adapter makes it, and its own reading counts (`calls`).
"""

from __future__ import annotations

import math
import ssl
import threading
import time
from functools import partial

import httpx

from workers import trust
from workers.adapters._adapter import NoHttpRequest, Prepares
from workers.egress import NoSuchHost, resolve_all
from workers.faults import BadJob
from workers.probes import calls
from workers.probes.open_loop import Timetable, drive, with_waits
from workers.probes.quiet import Quiet
from workers.probes.readings import Reading, read
from workers.probes.series import series
from workers.session import Session
from workers.stopwatch import Stopwatch, Target, aim
from workers.threads import run_in_threads
from workers.wire.job import QuietJob, SustainedJob
from workers.wire.percentiles import percentile
from workers.wire.result import Outcome, Series, Verdict

REQUESTS_MAX = 10_000
RETAKES_MAX = 10
IN_FLIGHT_MAX = 64
DURATION_MAX_S = 600.0
TIMEOUT_MAX_MS = 600_000
PAUSE_MAX_S = 60.0


async def judge_quiet(
    job: QuietJob, session: Session, *, tls: ssl.SSLContext | None = None, kernel: bool = True
) -> Verdict:
    """Time *job.requests* calls of the skill's example, one after the other, after *job.warmup* unmeasured ones.

    A sample during which our machine was in the way is taken again (`Quiet`).

    *tls* replaces the verifying default context; *kernel* False reads the application's clock alone.

    Raises:
        FleetFault: If our own machine, network or name look-up failed.
        BadJob: If the skill may not be called or no valid call is known, or the job is out of bounds.
    """
    if not (1 <= job.requests <= REQUESTS_MAX and 0 <= job.warmup <= REQUESTS_MAX):
        raise BadJob(f"a latency series of {job.warmup} + {job.requests} requests is out of bounds")
    if not (0 <= job.retakes <= RETAKES_MAX and job.max_lag_ms > 0):
        raise BadJob(f"{job.retakes} retakes above a lag of {job.max_lag_ms} ms is out of bounds")
    timeout_ns = _timeout_ns(job.timeout_ms)
    await _check_example(session)
    try:
        target = await _target(session, tls, job.timeout_ms)
    except NoSuchHost as error:
        return _unreachable(job.requests, str(error))
    quiet = Quiet(job)
    if target is None:
        await calls.in_sequence(session, quiet, timeout_ms=job.timeout_ms)
        return _verdict(quiet.readings, [], job, job.requests, requests=quiet.requests)
    watch, stop = Stopwatch(target, kernel=kernel), threading.Event()
    rate = session.skill.max_requests_per_second
    pause_s = min(1 / rate, PAUSE_MAX_S) if rate else 0.0
    work = partial(_in_sequence, watch, quiet, timeout_ns, pause_s, stop)
    await run_in_threads([work], partial(_abort, stop, [watch]))
    return _verdict(quiet.readings, [watch], job, job.requests)


async def judge_sustained(
    job: SustainedJob, session: Session, *, tls: ssl.SSLContext | None = None, kernel: bool = True
) -> Verdict:
    """Load the skill with *job.rate_per_s* calls a second for *job.duration_s*, over *job.max_in_flight* connections.

    A call's deadline is its due time plus the timeout, so the whole ends within the duration and one timeout. *tls* and
    *kernel* as for `judge_quiet`.

    Raises:
        FleetFault: If our own machine, network or name look-up failed.
        BadJob: If the skill may not be called or no valid call is known, or the job is out of bounds.
    """
    if not (0 < job.duration_s <= DURATION_MAX_S and 0 < job.rate_per_s * job.duration_s <= REQUESTS_MAX):
        raise BadJob(f"a load of {job.rate_per_s} requests a second for {job.duration_s} s is out of bounds")
    if not 1 <= job.max_in_flight <= IN_FLIGHT_MAX:
        raise BadJob(f"{job.max_in_flight} requests in flight is out of bounds")
    # Rounded first: 0.1 * 30 is a hair above 3 in binary.
    planned = math.ceil(round(job.rate_per_s * job.duration_s, 9)) or 1
    timeout_ns = _timeout_ns(job.timeout_ms)
    in_flight = min(job.max_in_flight, planned)
    await _check_example(session)
    try:
        target = await _target(session, tls, job.timeout_ms)
    except NoSuchHost as error:
        return _unreachable(planned, str(error))
    timetable, stop = Timetable(planned, job.rate_per_s), threading.Event()
    if target is None:
        timed = await calls.on_time(session, timetable, in_flight=in_flight, timeout_ms=job.timeout_ms)
        return _verdict(with_waits(timed, timetable, in_flight), [], job, planned, requests=len(timed))
    watches = [Stopwatch(target, kernel=kernel) for _ in range(in_flight)]
    works = [partial(drive, watch, timetable, timeout_ns, stop) for watch in watches]
    lanes = await run_in_threads(works, partial(_abort, stop, watches))
    readings = with_waits([reading for lane in lanes for reading in lane], timetable, len(watches))
    return _verdict(readings, watches, job, planned)


def _in_sequence(watch: Stopwatch, quiet: Quiet, timeout_ns: int, pause_s: float, stop: threading.Event) -> None:
    due_ns = 0
    try:
        while (order := quiet.next()) is not None:
            if stop.wait(max((due_ns - time.perf_counter_ns()) / 1e9, 0.0)):
                break
            begun_ns = time.perf_counter_ns()
            due_ns = begun_ns + round(pause_s * 1e9)
            exchange = watch.time(begun_ns + timeout_ns)
            quiet.took(read(order, exchange, body_of=watch.read))
    finally:
        watch.close()


async def _check_example(session: Session) -> None:
    """Timing refusals of a call that we made up would say nothing of the skill."""
    if session.skill.guessed:
        session.check_refusal(await session.baseline())


async def _target(session: Session, tls: ssl.SSLContext | None, timeout_ms: int) -> Target | None:
    """What the stopwatch is aimed at; None where a call is no plain HTTP request."""
    skill, adapter = session.skill, session.adapter
    if isinstance(adapter, Prepares):
        await adapter.prepare(skill, deadline_s=timeout_ms / 1000)
    try:
        request = adapter.request(skill, skill.example)
    except NoHttpRequest:
        return None
    try:
        url = httpx.URL(request.url)
    except httpx.InvalidURL as error:
        raise BadJob(f"not an address to call: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise BadJob("only http and https addresses can be timed")
    secure = url.scheme == "https"
    port = url.port or (443 if secure else 80)
    addresses = await resolve_all(url.raw_host.decode("ascii"), port, skill.allow_networks)
    return aim(request, addresses, (tls or trust.verifying()) if secure else None)


def _timeout_ns(timeout_ms: int) -> int:
    if not 1 <= timeout_ms <= TIMEOUT_MAX_MS:
        raise BadJob(f"a timeout of {timeout_ms} ms is out of bounds")
    return timeout_ms * 1_000_000


def _abort(stop: threading.Event, watches: list[Stopwatch]) -> None:
    stop.set()
    for watch in watches:
        watch.abort()


def _unreachable(planned: int, reason: str) -> Verdict:
    nothing = Series(
        planned=planned, samples_ms=(), app_ms=(), failures=planned, timeouts=0, clock="kernel", uncertainty_ms=0.0
    )
    return Verdict(outcome=Outcome.FAIL, score=0.0, evidence=f"0 of {planned} answered; {reason}", series=nothing)


def _verdict(
    readings: list[Reading],
    watches: list[Stopwatch],
    job: QuietJob | SustainedJob,
    planned: int,
    *,
    requests: int = 0,
) -> Verdict:
    found = series(
        readings,
        planned=planned,
        connect_ms=[ms for watch in watches for ms in watch.connect_ms],
        tls_ms=[ms for watch in watches for ms in watch.tls_ms],
        max_lag_ms=job.max_lag_ms,
    )
    return Verdict(
        outcome=outcome(found),
        score=len(found.samples_ms) / planned,
        evidence=evidence(found, [one.flaw for one in readings if one.flaw and not one.timed_out]),
        requests=requests + sum(watch.requests for watch in watches),
        series=found,
    )


def outcome(found: Series) -> Outcome:
    """Pass when every request succeeded, partial when some did; timeout when all waited in vain, else fail."""
    if len(found.samples_ms) == found.planned:
        return Outcome.PASS
    if found.samples_ms:
        return Outcome.PARTIAL
    return Outcome.FAIL if found.failures else Outcome.TIMEOUT


def evidence(found: Series, flaws: list[str]) -> str:
    """One sentence for people: how many answered, how fast, what went wrong; *flaws* are the failures' reasons."""
    parts = [f"{len(found.samples_ms)} of {found.planned} answered"]
    if found.samples_ms:
        p50, p95, p99 = (percentile(found.samples_ms, q) for q in (0.50, 0.95, 0.99))
        parts.append(
            f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms"
            f" ({found.clock} clock, uncertainty {found.uncertainty_ms:.1f} ms)"
        )
    if found.flagged:
        parts.append(f"{found.flagged} read while our machine was in the way")
    if found.failures:
        parts.append(f"{found.failures} failed, the first: {flaws[0]}")
    if found.timeouts:
        parts.append(f"{found.timeouts} timed out")
    return "; ".join(parts)
