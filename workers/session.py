"""What the jobs of one parcel share: the way in to their skill, and one baseline call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from workers.adapters._adapter import MAIN_CALLER, Adapter
from workers.observation import Answered, Observation, Value
from workers.pace import Pace
from workers.wire.skill import SkillRef

BASELINE_TRIES = 3


class Session:
    """One skill, ready to be called. Lives as long as its parcel."""

    def __init__(self, skill: SkillRef, adapter: Adapter) -> None:
        self.skill = skill
        self.adapter = adapter
        limit = skill.max_requests_per_second
        self._pace = Pace(limit, time.monotonic()) if limit else None
        self._baseline: asyncio.Task[tuple[Observation, int]] | None = None

    async def call(
        self, inputs: Mapping[str, Any], *, timeout_ms: int | None = None, caller: str = MAIN_CALLER
    ) -> Observation:
        """Call the skill once, no sooner than its publisher allows.

        The deadline is *timeout_ms* or, without it, the skill's own; it counts from when the call is sent.
        """
        if self._pace:
            await asyncio.sleep(self._pace.wait_s(time.monotonic()))
        deadline_s = (timeout_ms or self.skill.timeout_ms) / 1000
        return await self.adapter.call(self.skill, inputs, deadline_s=deadline_s, caller=caller)

    async def baseline(self) -> Observation:
        """The answer to one valid call, made from the skill's example: sent once a parcel, however many jobs ask.

        A skill that fails now and then gets `BASELINE_TRIES` tries; the last observation is returned either way.
        """
        if self._baseline is None:
            self._baseline = asyncio.ensure_future(self._call_baseline())
        # A job that is cancelled must not take the others' baseline along.
        observation, _ = await asyncio.shield(self._baseline)
        return observation

    @property
    def baseline_requests(self) -> int:
        """How many requests the baseline took so far."""
        if self._baseline is None or not self._baseline.done() or self._baseline.exception():
            return 0
        return self._baseline.result()[1]

    async def _call_baseline(self) -> tuple[Observation, int]:
        tries = 0
        while True:
            observation = await self.call(self.skill.example)
            tries += 1
            answered = isinstance(observation, Answered) and isinstance(observation.reply, Value)
            if answered or tries == BASELINE_TRIES:
                return observation, tries
