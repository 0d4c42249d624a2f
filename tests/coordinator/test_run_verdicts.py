"""A run whose verdicts wait for something beside the results."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from coordinator import policy
from coordinator.catalog.skill import Skill
from coordinator.ledger.ledger import Ledger
from coordinator.run import AT_ONCE, Concluded, Run
from tests.coordinator.skills import skill
from tests.coordinator.test_run_discovery import RUN, Assessed, Fleet, tools


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    opened.begin(RUN, mode="live", catalog="c", stamps={})
    yield opened
    opened.close()


class Slow(Assessed):
    """Gives the verdict on a skill called slow only when all others have theirs."""

    def __init__(self, others: int) -> None:
        super().__init__()
        self._others = others
        self._all = asyncio.Event()
        self.order: list[str] = []
        if not others:
            self._all.set()

    def awaits(self, skill: Skill) -> asyncio.Future[None] | None:  # type: ignore[override]
        return asyncio.ensure_future(self._rest()) if skill.id.startswith("slow") else None

    async def _rest(self) -> None:
        await self._all.wait()

    def _concluded(self, id_: str, verdict: str, told: str) -> Concluded:
        self.order.append(id_)
        if len(self.order) >= self._others:
            self._all.set()
        return super()._concluded(id_, verdict, told)


def certified(ledger: Ledger, *skills: Skill, others: int) -> tuple[list[str], list[str]]:
    """The verdicts in the order in which they were given, and the records in theirs."""
    order: list[str] = []

    async def execute() -> None:
        assessed = Slow(others)
        limits = policy.load(None).limits
        fleet = Fleet(tools())
        await Run(RUN, iter(skills), assessment=assessed, limits=limits, ledger=ledger, courier=fleet).execute()
        order.extend(assessed.order)

    asyncio.run(asyncio.wait_for(execute(), 30))
    return order, [line.decode().split()[0] for line in ledger.records(RUN)]


def one(name: str, *, called: bool = True) -> Skill:
    made = skill(id=name, digest=f"sha256:{name}")
    return made if called else msgspec.structs.replace(made, access=None)


def test_a_slow_verdict_holds_up_no_other(ledger: Ledger) -> None:
    """The others are called and concluded meanwhile; its record stands at its place, and the run ends with it."""
    order, records = certified(ledger, one("slow"), one("a"), one("slow-uncalled", called=False), one("b"), others=2)

    assert order[:2] == ["a", "b"]
    assert set(order[2:]) == {"slow", "slow-uncalled"}
    assert records == ["slow", "a", "slow-uncalled", "b"]


def test_no_more_verdicts_wait_than_memory_is_meant_for(ledger: Ledger) -> None:
    """The catalog is not read on while many wait; it is afterwards, to its end."""
    slow = [one(f"slow-{number}", called=False) for number in range(3 * AT_ONCE)]

    order, records = certified(ledger, *slow, one("last"), others=0)

    assert sorted(order) == sorted(records)
    assert records == [*(one.id for one in slow), "last"]
