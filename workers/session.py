"""What the jobs of one parcel share: the way in to their skill, and one baseline call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from workers.adapters._adapter import MAIN_CALLER, Adapter, TakesBody
from workers.faults import BadJob
from workers.listener import Listener
from workers.observation import Answered, Observation, Refused, Value
from workers.pace import Pace
from workers.wire.skill import SkillRef

BASELINE_TRIES = 3
INPUT_STATUSES = (400, 409, 422)
"""Of HTTP's refusals those of what was sent; the others are of who sends it, how, or whereto."""
OURS = "the manifest gives no example for each input, and the skill refuses the one that its types and texts suggest"


class Session:
    """One skill, ready to be called. Lives as long as its parcel."""

    def __init__(self, skill: SkillRef, adapter: Adapter, listener: Listener | None = None) -> None:
        self.skill = skill
        self.adapter = adapter
        self.listener = listener
        limit = skill.max_requests_per_second
        self._pace = Pace(limit, time.monotonic()) if limit else None
        self._baseline: asyncio.Task[tuple[Observation, int]] | None = None
        self._billed = 0

    async def call(
        self, inputs: Mapping[str, Any], *, timeout_ms: int | None = None, caller: str = MAIN_CALLER
    ) -> Observation:
        """Call the skill once, no sooner than its publisher allows.

        The deadline is *timeout_ms* or, without it, the skill's own; it counts from when the call is sent.
        """
        deadline_s = await self._turn(timeout_ms)
        return await self.adapter.call(self.skill, inputs, deadline_s=deadline_s, caller=caller)

    def check_refusal(self, observation: Observation) -> None:
        """Nothing, unless *observation* is the refusal of an example that is ours.

        Raises:
            BadJob: If it is: nobody knows a valid call of this skill.
        """
        if not self.skill.guessed or not isinstance(observation, Answered):
            return
        about_inputs = observation.status < 400 or observation.status in INPUT_STATUSES
        if isinstance(observation.reply, Refused) and about_inputs:
            raise BadJob(f"no valid call is known: {OURS} ({observation.reply.reason})")

    async def send(self, body: bytes, *, timeout_ms: int | None = None) -> Observation:
        """Call the skill once, as `call` does, with *body* as it is in place of the body that holds the inputs.

        Raises:
            BadJob: If the skill is called in a way that has no such body.
        """
        if not isinstance(self.adapter, TakesBody):
            raise BadJob(f"the adapter {self.skill.access.adapter!r} sends no body that could be replaced")
        deadline_s = await self._turn(timeout_ms)
        return await self.adapter.send(self.skill, body, deadline_s=deadline_s)

    async def _turn(self, timeout_ms: int | None) -> float:
        """Wait until the skill may be called; how many seconds the call may take."""
        if self._pace:
            await asyncio.sleep(self._pace.wait_s(time.monotonic()))
        return (timeout_ms or self.skill.timeout_ms) / 1000

    async def baseline(self) -> Observation:
        """The answer to one valid call, made from the skill's example: sent once a parcel, however many jobs ask.

        A skill that fails now and then gets `BASELINE_TRIES` tries; the last observation is returned either way.
        """
        if self._baseline is None:
            self._baseline = asyncio.ensure_future(self._call_baseline())
        # A job that is cancelled must not take the others' baseline along.
        observation, _ = await asyncio.shield(self._baseline)
        return observation

    def close(self) -> None:
        """Give up the baseline that nobody waits for any more: the parcel's jobs have ended, or were cancelled."""
        if self._baseline is not None:
            self._baseline.cancel()

    @property
    def baseline_requests(self) -> int:
        """How many requests the baseline took so far."""
        if self._baseline is None or not self._baseline.done() or self._baseline.exception():
            return 0
        return self._baseline.result()[1]

    def bill_baseline(self) -> int:
        """How many requests the baseline took, told to the first that asks and to nobody else: jobs run at once."""
        billed, self._billed = self._billed, self.baseline_requests
        return self._billed - billed

    async def _call_baseline(self) -> tuple[Observation, int]:
        tries = 0
        while True:
            observation = await self.call(self.skill.example)
            tries += 1
            answered = isinstance(observation, Answered) and isinstance(observation.reply, Value)
            if answered or tries == BASELINE_TRIES:
                return observation, tries
