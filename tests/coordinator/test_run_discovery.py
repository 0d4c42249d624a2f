"""A run over an MCP server: its tools are found out, and each goes on as an entry of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path

import pytest

from coordinator import policy
from coordinator.catalog.skill import Entry, Rejection, Skill
from coordinator.courier import Batch, Depth
from coordinator.discovery import DISCOVERY
from coordinator.ledger.ledger import Ledger
from coordinator.plan import Plan, Planner
from coordinator.run import Concluded, Run
from payloads import loader
from tests.coordinator.skills import skill
from workers.wire.job import DiscoverJob, Job, Parcel, Pillar
from workers.wire.result import Discovered, Judged, Outcome, Result, Tool, Unjudged, Verdict
from workers.wire.skill import Access

RUN = "run-1"


def server(name: str) -> Skill:
    return skill(
        id=name,
        digest=f"sha256:{name}",
        format="mcp_registry",
        access=Access(adapter="mcp", endpoint=f"http://{name}/"),
    )


def verdict(job: Job, parcel: Parcel, outcome: Outcome, evidence: str = "") -> Judged:
    return Judged(
        job_id=job.id,
        run_id=parcel.run_id,
        skill_digest=parcel.skill.digest,
        pillar=Pillar.FUNCTIONAL,
        probe=job.probe,
        verdict=Verdict(outcome=outcome, score=1.0, evidence=evidence),
    )


class Fleet:
    """A courier whose workers ask *server* for its tools and pass everything else."""

    reply_to = "here"

    def __init__(self, answer: Callable[[DiscoverJob, Parcel], Result]) -> None:
        self._answer = answer
        self._results: asyncio.Queue[tuple[Result, ...]] = asyncio.Queue()
        self.jobs: list[Job] = []

    async def publish(self, parcel: Parcel) -> None:
        self.jobs += parcel.jobs
        made = [
            self._answer(job, parcel) if isinstance(job, DiscoverJob) else verdict(job, parcel, Outcome.PASS)
            for job in parcel.jobs
        ]
        self._results.put_nowait(tuple(made))

    async def batches(self) -> AsyncIterator[Batch]:
        while True:
            yield Batch(await self._results.get(), self._ack)

    async def _ack(self) -> None: ...

    async def depths(self) -> dict[str, Depth]:
        return {}

    async def backlog(self) -> bool:
        return False

    async def aclose(self, *, finished: bool = True) -> None: ...


class Assessed:
    """Plans by the real planner and says of each skill only how many results it had."""

    def __init__(self) -> None:
        self._planner = Planner(run_id=RUN, policy=policy.load(None), corpus=loader.load())

    def plan(self, skill: Skill) -> Plan | None:
        return self._planner.plan(skill)

    def awaits(self, skill: Skill) -> None:
        """Nothing."""

    def judge(self, skill: Skill, plan: Plan, results: Mapping[str, Result]) -> Concluded:
        return self._concluded(skill.id, "judged", str(len(results)))

    def uncalled(self, skill: Skill) -> Concluded:
        return self._concluded(skill.id, "uncalled", "")

    def reject(self, rejection: Rejection) -> Concluded:
        return self._concluded("", "rejected", rejection.found)

    def _concluded(self, id_: str, verdict: str, told: str) -> Concluded:
        return Concluded(skill_id=id_, verdict=verdict, overall=None, line=f"{id_} {verdict} {told}".encode())


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    opened.begin(RUN, mode="live", catalog="c", stamps={})
    yield opened
    opened.close()


def run(ledger: Ledger, fleet: Fleet, *entries: Entry, resumed: bool = False) -> list[str]:
    """The lines of the records, when the run has ended."""

    async def execute() -> None:
        await Run(
            RUN,
            iter(entries),
            assessment=Assessed(),
            limits=policy.load(None).limits,
            ledger=ledger,
            courier=fleet,
            resumed=resumed,
        ).execute()

    asyncio.run(asyncio.wait_for(execute(), 30))
    return [line.decode() for line in ledger.records(RUN)]


def tools(*names: str) -> Callable[[DiscoverJob, Parcel], Result]:
    def answer(job: DiscoverJob, parcel: Parcel) -> Result:
        return Discovered(
            job_id=job.id,
            run_id=parcel.run_id,
            skill_digest=parcel.skill.digest,
            pillar=Pillar.FUNCTIONAL,
            probe=job.probe,
            tools=tuple(Tool(name=name, input_schema={}) for name in names),
        )

    return answer


def test_each_tool_has_a_record_at_its_servers_place(ledger: Ledger) -> None:
    """In the catalog's order: the tools stand where the server does, which has no record itself."""
    fleet = Fleet(tools("b", "a"))

    lines = run(ledger, fleet, server("one"), skill(id="last"), server("two"))

    assert [line.rsplit(" ", 1)[0] for line in lines] == [
        "one/b judged", "one/a judged", "last judged", "two/b judged", "two/a judged"
    ]  # fmt: skip
    assert [job.probe for job in fleet.jobs].count(DISCOVERY) == 2


def test_a_server_that_does_not_tell_is_rejected_and_the_others_go_on(ledger: Ledger) -> None:
    """The reason is what it did instead."""
    fleet = Fleet(lambda job, parcel: verdict(job, parcel, Outcome.FAIL, "HTTP 404"))

    lines = run(ledger, fleet, server("one"), skill(id="last"))

    assert lines[0] == " rejected HTTP 404"
    assert lines[1].startswith("last judged")


def test_a_server_that_could_not_be_asked_is_judged_by_what_is_missing(ledger: Ledger) -> None:
    """Through no fault of its own; the assessment knows what that makes of it."""

    def lost(job: DiscoverJob, parcel: Parcel) -> Result:
        return Unjudged(
            job_id=job.id,
            run_id=parcel.run_id,
            skill_digest=parcel.skill.digest,
            pillar=Pillar.FUNCTIONAL,
            probe=job.probe,
            reason="lost",
        )

    assert run(ledger, Fleet(lost), server("one")) == ["one judged 1"]


def test_a_run_that_goes_on_asks_neither_the_server_nor_its_tools_again(ledger: Ledger) -> None:
    """What the ledger has of them is taken from there."""
    first = run(ledger, Fleet(tools("a", "b")), server("one"))
    again = Fleet(tools("a", "b"))

    second = run(ledger, again, server("one"), resumed=True)

    assert second == first
    assert again.jobs == []
