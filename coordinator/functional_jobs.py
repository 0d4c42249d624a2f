"""The functional jobs of one skill: every task that fits it as often as it is repeated, and the edge cases. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from benchmarks.loader import Benchmark
from coordinator import edge_cases
from coordinator.catalog.skill import Skill
from coordinator.edge_cases import EdgeCase
from coordinator.policy import FunctionalPolicy
from coordinator.repeats import Repeats
from coordinator.subject import subject
from coordinator.tally import Planned
from coordinator.tasks import PlannedTask, tasks_of
from workers import registry
from workers.wire.job import EdgeCaseJob, ExamineJob, FunctionalJob, Job, Pillar, job_id
from workers.wire.skill import SkillRef

EDGE_CASES = "edge_cases"


class FunctionalJobs(Struct, frozen=True, kw_only=True):
    """*edge_cases* run one by one and after the *tasks*: what one of them breaks must not be billed to another job."""

    tasks: dict[str, Job]
    edge_cases: dict[str, Job]
    planned: tuple[Planned, ...]


def functional_jobs(
    run_id: str, skill: Skill, ref: SkillRef, benchmarks: Sequence[Benchmark], policy: FunctionalPolicy
) -> FunctionalJobs:
    """The functional jobs of *skill*, by job id.

    Raises:
        BenchmarkError: If a benchmark cannot be run.
    """
    planned: list[Planned] = []
    tasks: dict[str, Job] = {}
    for task in tasks_of(skill, benchmarks, repeats_of(policy), talks=_says(ref, "AS_TEXT")):
        for repeat in range(1 if task.misfit else task.repeats.n):
            id_ = job_id(run_id, ref.digest, Pillar.FUNCTIONAL, task.probe, repeat)
            if not task.misfit:
                tasks[id_] = _task_job(id_, skill, ref, task)
            planned.append(
                Planned(
                    job_id=id_,
                    pillar=Pillar.FUNCTIONAL,
                    probe=task.probe,
                    group=task.group,
                    weight=task.weight,
                    k=task.repeats.k,
                    misfit=task.misfit,
                    examines=task.examines,
                )
            )
    edges = {job.id: job for job in _edge_jobs(run_id, skill, ref, policy.edge_cases.max_requests)}
    planned += [
        Planned(job_id=job.id, pillar=Pillar.FUNCTIONAL, probe=job.probe, group=EDGE_CASES) for job in edges.values()
    ]
    return FunctionalJobs(tasks=tasks, edge_cases=dict(edges), planned=tuple(planned))


def repeats_of(policy: FunctionalPolicy) -> Repeats:
    """How often *policy* has each task run."""
    return Repeats(n=policy.repeats, k=policy.k)


def requests_of(job: Job) -> int:
    """How many requests the functional *job* makes of a skill that answers as it should.

    The edge cases of one parcel share one more, before the first of them: `coordinator.edge_cases.BASELINE_REQUESTS`.
    """
    match job:
        case EdgeCaseJob():
            return edge_cases.requests_of(job)
        case FunctionalJob():
            return 1
    return 0


def _task_job(id_: str, skill: Skill, ref: SkillRef, task: PlannedTask) -> Job:
    timeout_ms = task.timeout_ms or ref.timeout_ms
    if task.examines and task.expectation is not None:
        about = subject(skill, task.input.get("member"))
        return ExamineJob(id=id_, probe=task.probe, subject=about, expectation=task.expectation, timeout_ms=timeout_ms)
    return FunctionalJob(
        id=id_, probe=task.probe, input=task.input, expectation=task.expectation, timeout_ms=timeout_ms
    )


def _edge_jobs(run_id: str, skill: Skill, ref: SkillRef, max_requests: int) -> Iterator[EdgeCaseJob]:
    cases = edge_cases.edge_cases(
        skill, max_requests=max_requests, takes_body=_says(ref, "TAKES_BODY"), talks=_says(ref, "AS_TEXT")
    )
    for case in cases:
        yield _edge_job(run_id, ref, case)


def _edge_job(run_id: str, ref: SkillRef, case: EdgeCase) -> EdgeCaseJob:
    probe = f"edge_case/{case.name}"
    return EdgeCaseJob(
        id=job_id(run_id, ref.digest, Pillar.FUNCTIONAL, probe),
        probe=probe,
        about=case.about,
        wanted=case.wanted,
        input=case.input,
        body=case.body,
        declared=case.declared,
        statuses=case.statuses,
        timeout_ms=ref.timeout_ms,
    )


def _says(ref: SkillRef, what: str) -> bool:
    """Whether the skill's adapter says *what* of itself; an unknown adapter is for the worker to complain about."""
    name = ref.access.adapter
    return name in registry.parts("adapters") and getattr(registry.part("adapters", name), what, False) is True
