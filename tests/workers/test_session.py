from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from workers.observation import Observation
from workers.session import Session
from workers.wire.skill import Access, SkillRef

SKILL = SkillRef(
    id="s",
    name="S",
    version="1.0.0",
    digest="sha256:0",
    access=Access(adapter="http", endpoint="http://127.0.0.1/"),
    input_schema={},
)


class Silent:
    """An adapter whose skill never answers."""

    def __init__(self) -> None:
        self.called = asyncio.Event()

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = ""
    ) -> Observation:
        self.called.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def aclose(self) -> None:
        """Nothing to do."""


def test_a_closed_session_leaves_no_call_behind() -> None:
    """The baseline is shared and outlives the job that asked for it, but not the parcel."""

    async def left() -> tuple[int, int]:
        adapter = Silent()
        session = Session(SKILL, adapter)
        job = asyncio.create_task(session.baseline())
        await adapter.called.wait()
        job.cancel()
        await asyncio.wait({job})
        shared = len(asyncio.all_tasks()) - 1
        session.close()
        await asyncio.sleep(0)  # the cancelled one ends
        await asyncio.sleep(0)
        return shared, len(asyncio.all_tasks()) - 1

    assert asyncio.run(left()) == (1, 0)


def test_a_session_without_a_baseline_can_be_closed() -> None:
    """Nothing was asked, so there is nothing to give up."""

    async def closed() -> int:
        session = Session(SKILL, Silent())
        session.close()
        return session.baseline_requests

    assert asyncio.run(closed()) == 0
