"""Every attack on every skill of the range, run by the product's own worker code."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from payloads import loader
from tests.range.server import Range
from tests.range.skill import RangeSkill
from workers.run import Adapters, run
from workers.wire.job import Attack, Parcel, Pillar, SecurityJob, job_id
from workers.wire.queues import results_queue
from workers.wire.result import Judged, Outcome, Result
from workers.wire.skill import SkillRef

LANES = 4


class Trial(Struct, frozen=True, kw_only=True):
    """One attack on one skill in one round: what was asked, and what came of it."""

    skill: str
    round: int
    ref: SkillRef
    job: SecurityJob
    result: Result

    @property
    def probe(self) -> str:
        return self.job.probe

    @property
    def category(self) -> str:
        return self.job.attack.category

    @property
    def outcome(self) -> Outcome:
        return self.result.verdict.outcome if isinstance(self.result, Judged) else Outcome.UNJUDGED

    @property
    def evidence(self) -> str:
        return self.result.verdict.evidence if isinstance(self.result, Judged) else getattr(self.result, "reason", "")


class Trials(Struct, frozen=True, kw_only=True):
    """All trials, and the calls that each skill counted itself in each round."""

    trials: tuple[Trial, ...]
    calls: dict[str, list[int]]


def attacks() -> list[Attack]:
    """The corpus as the workers get it."""
    return [msgspec.convert(one, Attack, from_attributes=True) for one in loader.load().payloads]


def try_all(
    skills: Sequence[RangeSkill],
    corpus: Sequence[Attack],
    *,
    rounds: int = 1,
    at_once: int = 8,
    done: Callable[[Trial], None] = lambda _: None,
) -> Trials:
    """Run *corpus* against *skills*, *rounds* times with job ids of their own; *done* hears of each trial."""
    with tempfile.TemporaryDirectory(prefix="skillmark-range-") as folder, Range(skills, Path(folder)) as served:
        return asyncio.run(_all(served, skills, corpus, rounds, at_once, done))


async def _all(
    served: Range,
    skills: Sequence[RangeSkill],
    corpus: Sequence[Attack],
    rounds: int,
    at_once: int,
    done: Callable[[Trial], None],
) -> Trials:
    adapters, places = Adapters(), asyncio.Semaphore(at_once)
    trials: list[Trial] = []
    calls: dict[str, list[int]] = {skill.name: [] for skill in skills}

    async def one(skill: RangeSkill) -> None:
        async with places:
            for round_ in range(rounds):
                before = served.calls[skill.name]
                async for trial in _round(adapters, served.ref(skill), skill.name, corpus, round_):
                    trials.append(trial)
                    done(trial)
                calls[skill.name].append(served.calls[skill.name] - before)

    try:
        await asyncio.gather(*(one(skill) for skill in skills))
    finally:
        await adapters.aclose()
    order = {skill.name: number for number, skill in enumerate(skills)}
    return Trials(
        trials=tuple(sorted(trials, key=lambda one: (order[one.skill], one.probe, one.round))),
        calls=calls,
    )


async def _round(
    adapters: Adapters, ref: SkillRef, name: str, corpus: Sequence[Attack], round_: int
) -> AsyncIterator[Trial]:
    """As a run of the product does it: what leaves no trace, side by side; then what does, alone."""
    for stateful in (False, True):
        jobs = _jobs(ref, f"range-{round_}", [attack for attack in corpus if attack.stateful is stateful])
        if not jobs:
            continue
        parcel = Parcel(
            id=f"range-{round_}-{ref.id}",
            run_id=f"range-{round_}",
            skill=ref,
            jobs=tuple(jobs.values()),
            reply_to=results_queue("range"),
            lanes=1 if stateful else LANES,
        )
        results: list[Result] = []
        await run(parcel, adapters, results.append)
        for result in results:
            yield Trial(skill=name, round=round_, ref=ref, job=jobs[result.job_id], result=result)


def _jobs(ref: SkillRef, run_id: str, chosen: Iterable[Attack]) -> dict[str, SecurityJob]:
    """The jobs by their ids."""
    jobs = (
        SecurityJob(
            id=job_id(run_id, ref.digest, Pillar.SECURITY, attack.id),
            probe=attack.id,
            attack=attack,
            timeout_ms=ref.timeout_ms,
        )
        for attack in chosen
    )
    return {job.id: job for job in jobs}
