"""Latencies of calls that are no plain HTTP request: within a session, over an event stream, or to a program.

The adapter makes them, on its event loop, and its reading counts: a monotonic clock in a process that has other work.
How far that may be off is seen as in `readings`, by a nap on the same loop after each call.
"""

from __future__ import annotations

import asyncio
import time

from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut, Value
from workers.probes.open_loop import Timetable
from workers.probes.quiet import Quiet
from workers.probes.readings import NAP_S, Reading, Sample
from workers.session import Session


async def in_sequence(session: Session, quiet: Quiet, *, timeout_ms: int) -> None:
    """Make the calls of *quiet*, with the skill's example, one after the other.

    Raises:
        FleetFault, BadJob: As the adapter does.
    """
    while (order := quiet.next()) is not None:
        quiet.took(await _read(order, await session.call(session.skill.example, timeout_ms=timeout_ms)))


async def on_time(session: Session, timetable: Timetable, *, in_flight: int, timeout_ms: int) -> list[Reading]:
    """The readings of the calls that *timetable* has, at most *in_flight* at once, each to end *timeout_ms* after due.

    Raises:
        FleetFault, BadJob: As the adapter does.
    """
    lanes = [asyncio.ensure_future(_lane(session, timetable, timeout_ms)) for _ in range(in_flight)]
    try:
        found = await asyncio.gather(*lanes)
    finally:
        for lane in lanes:
            lane.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)
    return [reading for readings in found for reading in readings]


async def _lane(session: Session, timetable: Timetable, timeout_ms: int) -> list[Reading]:
    readings = []
    free_ns = 0  # when the skill would be done with all so far, had this task never been late
    while (entry := timetable.next()) is not None:
        order, due_ns = entry
        await asyncio.sleep(max((due_ns - time.perf_counter_ns()) / 1e9, 0.0))
        begin_ns, started_ns = max(free_ns, due_ns), time.perf_counter_ns()
        left_ms = timeout_ms - (begin_ns - due_ns) / 1e6
        if left_ms <= 0:
            readings.append(Reading(order=order, busy_ms=0.0, flaw="timed out", timed_out=True))
            continue
        # Not `Session.call`: the timetable keeps the pace that the publisher asks for.
        observation = await session.adapter.call(session.skill, session.skill.example, deadline_s=left_ms / 1000)
        reading = await _read(order, observation, late_ms=max(started_ns - due_ns, 0) / 1e6)
        readings.append(reading)
        free_ns = begin_ns + round(reading.busy_ms * 1e6)
    return readings


async def _read(order: int, observation: Observation, *, late_ms: float = 0.0) -> Reading:
    elapsed_ms = observation.elapsed_ms
    if isinstance(observation, TimedOut):
        return Reading(order=order, busy_ms=elapsed_ms, flaw="timed out", timed_out=True)
    if wrong := flaw(observation):
        return Reading(order=order, busy_ms=elapsed_ms, flaw=wrong)
    # The first byte is not told apart: the adapter reads whole answers.
    overslept_ns = await _overslept_ns()
    sample = Sample(
        elapsed_ms=elapsed_ms,
        app_ms=late_ms + elapsed_ms,
        first_byte_ms=elapsed_ms,
        kernel=False,
        lag_ms=max(late_ms, overslept_ns / 1e6),
    )
    return Reading(order=order, busy_ms=elapsed_ms, sample=sample, overslept_ns=overslept_ns)


def flaw(observation: Answered | Broke) -> str:
    """Why *observation* is no success, or nothing. Quotes nothing that the skill wrote."""
    match observation:
        case Broke():
            return observation.reason
        case Answered(waited_ms=waited_ms) if waited_ms:
            return "asked to be called again later"
        case Answered(reply=Value()):
            return ""
        case Answered(reply=Refused()):
            return "a refusal"
        case Answered(reply=Failed()):
            return "an error"
        case Answered(reply=Malformed()):
            return "no answer of the protocol"
    raise AssertionError(f"not an end of a call: {type(observation).__name__}")


async def _overslept_ns() -> int:
    begun_ns = time.perf_counter_ns()
    await asyncio.sleep(NAP_S)
    return max(time.perf_counter_ns() - begun_ns - int(NAP_S * 1e9), 0)
