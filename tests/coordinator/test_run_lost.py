"""A run whose last jobs never come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import coordinator.run
from coordinator import policy
from coordinator.catalog.skill import Rejection
from coordinator.courier import BATCH, Batch
from coordinator.ledger.ledger import Ledger
from coordinator.overdue import Due
from coordinator.run import Run
from tests.coordinator.skills import skill
from tests.coordinator.test_run_discovery import RUN, Assessed, Fleet, tools
from workers.wire.job import Parcel
from workers.wire.skill import Access


class Silent(Fleet):
    """A courier that takes parcels and brings nothing back."""

    def __init__(self) -> None:
        super().__init__(tools())

    async def publish(self, parcel: Parcel) -> None:
        self.jobs += parcel.jobs

    async def batches(self) -> AsyncIterator[Batch]:
        await asyncio.Event().wait()
        yield Batch((), self._ack)


class Impatient:
    """Gives up, at each tick, whatever is out."""

    def __init__(self) -> None:
        self._out: list[str] = []

    def published(self, parcel: Parcel, now: float) -> None:
        self._out += [job.id for job in parcel.jobs]

    def returned(self, job_id: str) -> None:
        self._out.remove(job_id)

    def tick(self, now: float, *, backlog: bool) -> Due:
        return Due((), tuple(self._out))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    opened = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    opened.begin(RUN, mode="live", catalog="c", stamps={})
    return opened


def test_a_run_ends_when_its_last_jobs_are_given_up(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing arrives any more, so it is the clock that ends the run; what was given up is in the ledger."""
    monkeypatch.setattr(coordinator.run, "TICK_S", 0.01)
    monkeypatch.setattr(coordinator.run, "Overdue", Impatient)
    fleet = Silent()
    one = skill(id="one", access=Access(adapter="http", endpoint="http://one/"))
    run = Run(
        RUN,
        iter([one]),
        assessment=Assessed(),
        limits=policy.load(None).limits,
        ledger=ledger,
        courier=fleet,
    )

    asyncio.run(asyncio.wait_for(run.execute(), 60))

    assert [line.decode() for line in ledger.records(RUN)] == [f"one judged {len(fleet.jobs)}"]
    assert set(ledger.results(RUN, one.digest)) == {job.id for job in fleet.jobs}
    ledger.close()


def test_entries_that_are_not_called_have_their_records(ledger: Ledger) -> None:
    """More of them than go into one transaction, and nothing else in the catalog."""
    count = BATCH + 7
    entries = [
        Rejection(source=f"{number}.json", pointer="", expected="a", found=str(number)) for number in range(count)
    ]

    async def execute() -> None:
        await Run(
            RUN,
            iter(entries),
            assessment=Assessed(),
            limits=policy.load(None).limits,
            ledger=ledger,
            courier=Silent(),
        ).execute()

    asyncio.run(asyncio.wait_for(execute(), 60))

    assert [line.decode() for line in ledger.records(RUN)] == [f" rejected {number}" for number in range(count)]
    ledger.close()
