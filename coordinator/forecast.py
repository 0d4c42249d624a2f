"""What a run over a catalog would do, without doing it: jobs by queue, requests by host. Pure.

Requests are those that are certain. How many an attack takes depends on what the skill answers, and which tools a
server has it says when the run asks it: both are told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from coordinator.catalog.skill import Entry, Rejection
from coordinator.plan import Plan, Planner
from workers.wire.job import (
    DiscoverJob,
    EdgeCaseJob,
    FunctionalJob,
    Job,
    Parcel,
    QuietJob,
    SecurityJob,
    SustainedJob,
    Wanted,
)
from workers.wire.queues import queue_of


class Forecast(Struct, kw_only=True):
    """*servers* are asked for their tools first, whose jobs are not in these figures. *attacks* are jobs too."""

    skills: int = 0
    servers: int = 0
    uncalled: int = 0
    rejected: int = 0
    attacks: int = 0
    jobs: Counter[str]
    requests: Counter[str]


def forecast(entries: Iterable[Entry], planner: Planner) -> Forecast:
    """What *planner* would ask of the *entries*.

    Raises:
        CatalogError: If there is no entry at all.
    """
    told = Forecast(jobs=Counter(), requests=Counter())
    for entry in entries:
        if isinstance(entry, Rejection):
            told.rejected += 1
        elif (plan := planner.plan(entry)) is None:
            told.uncalled += 1
        else:
            told.servers += plan.discovers
            told.skills += not plan.discovers
            _add(told, plan)
    return told


def _add(told: Forecast, plan: Plan) -> None:
    for job in (job for stage in plan.stages for job in stage.jobs.values()):
        told.jobs[queue_of(Parcel(id="", run_id="", skill=plan.ref, jobs=(job,), reply_to=""))] += 1
        told.requests[plan.host] += certain_requests(job)
        told.attacks += isinstance(job, SecurityJob)


def certain_requests(job: Job) -> int:
    """How many requests *job* sends at least, whatever comes back."""
    match job:
        case FunctionalJob() | DiscoverJob():
            return 1
        case EdgeCaseJob(wanted=wanted):
            return 1 if wanted is Wanted.ANSWERED else 2
        case QuietJob():
            return job.requests + job.warmup
        case SustainedJob():
            return max(1, round(job.rate_per_s * job.duration_s))
        case _:
            return 0
