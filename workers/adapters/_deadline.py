"""When a call must be over, in time during which our own loop was there to take the answer.

A loop stands still while a large answer is read through, while its neighbours crowd it out, or while its process is
stopped. What came meanwhile lies in the socket, and when the loop goes on its timers come first: a plain timeout would
make a skill that answered in time a skill that timed out. So the time in which the loop stood still does not count.
"""

from __future__ import annotations

import asyncio
import math
import time
from types import TracebackType
from weakref import WeakKeyDictionary

from workers.faults import FleetFault
from workers.observation import TimedOut

BEAT_S = 0.02
NOTICED_S = 0.05
"""A loop that is late by less is only busy, as it is in every fleet that is worth its machines."""

GRACE_S = 0.02
LOOKS = 5
"""So often a deadline is put off: a loop that stands still for ever must not make a call last for ever."""


class _Pulse:
    """How long the running loop has stood still, as long as somebody holds it."""

    def __init__(self) -> None:
        self._holders = 0
        self._lost_s = 0.0
        self._due = math.inf

    def lost_s(self) -> float:
        """The seconds until now."""
        late_s = time.monotonic() - self._due
        return self._lost_s + (late_s if late_s > NOTICED_S else 0.0)

    def hold(self) -> None:
        self._holders += 1
        if self._due == math.inf:
            self._beat()

    def release(self) -> None:
        self._holders -= 1

    def _beat(self) -> None:
        self._lost_s = self.lost_s()
        self._due = math.inf
        if self._holders:
            self._due = time.monotonic() + BEAT_S
            asyncio.get_running_loop().call_later(BEAT_S, self._beat)


_pulses: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pulse] = WeakKeyDictionary()


def _pulse() -> _Pulse:
    loop = asyncio.get_running_loop()
    pulse = _pulses.get(loop)
    if pulse is None:
        pulse = _pulses[loop] = _Pulse()
    return pulse


class Deadline:
    """*total_s* seconds from now, or from *begun* on the monotonic clock. For the running loop."""

    def __init__(self, total_s: float, begun: float | None = None) -> None:
        self.total_s = total_s
        self._begun = time.monotonic() if begun is None else begun
        self._pulse = _pulse()
        self._lost_before_s = self._pulse.lost_s()

    def restart(self) -> None:
        """Set it anew, as if nothing had happened until now."""
        self._begun = time.monotonic()
        self._lost_before_s = self._pulse.lost_s()

    def left_s(self) -> float:
        """The seconds that are left; negative when it has passed."""
        return self.total_s - (time.monotonic() - self._begun) + self._pulse.lost_s() - self._lost_before_s

    def elapsed_ms(self) -> float:
        """The milliseconds since it was set, by the clock on the wall."""
        return (time.monotonic() - self._begun) * 1000

    def missed(self) -> TimedOut:
        """What a call that did not make it came to.

        Raises:
            FleetFault: If our loop stood still for most of the time.
        """
        if self.left_s() > self.total_s / 2:
            raise FleetFault(f"our own side stood still for most of {self.elapsed_ms():.0f} ms")
        return TimedOut(elapsed_ms=self.elapsed_ms(), deadline_ms=self.total_s * 1000)

    def limit(self) -> _Limit:
        """A context that ends what runs inside when the deadline has passed.

        It raises TimeoutError then; ``expired()`` of the scope that it gives tells that from one that came up inside.
        """
        return _Limit(self, self._pulse)


class _Limit:
    """One `Deadline.limit`. A class, since every request has one and a generator costs twice as much."""

    def __init__(self, deadline: Deadline, pulse: _Pulse) -> None:
        self._deadline = deadline
        self._pulse = pulse
        self._loop = asyncio.get_running_loop()
        self._scope = asyncio.timeout(None)
        self._known_s = pulse.lost_s()
        self._looks = 0

    async def __aenter__(self) -> asyncio.Timeout:
        self._pulse.hold()
        self._timer = self._loop.call_later(max(self._deadline.left_s(), 0.0), self._look)
        return await self._scope.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._pulse.release()
        await self._scope.__aexit__(kind, error, trace)

    def _look(self) -> None:
        before_s, self._known_s = self._known_s, self._pulse.lost_s()
        self._looks += 1
        if self._known_s > before_s and self._looks < LOOKS:
            self._timer = self._loop.call_later(max(self._deadline.left_s(), GRACE_S), self._look)
        else:
            self._scope.reschedule(self._loop.time())
