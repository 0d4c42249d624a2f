"""From tasks and edge cases to jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from coordinator.catalog.skill import Skill, TestCase
from coordinator.functional_jobs import FunctionalJobs, functional_jobs, requests_of
from coordinator.plan import Planner
from coordinator.policy import Policy, repeated
from payloads import loader
from tests.coordinator.skills import skill, text
from tests.coordinator.test_tasks import benchmark, exact
from workers.wire.job import EdgeCaseJob, ExamineJob, FunctionalJob, Wanted
from workers.wire.skill import Access, SkillRef

ABOUT_NAME = exact("Tool", inputData={"member": "name"})


def jobs(of: Skill, rules: Policy, *benchmarks: Any, **access: Any) -> FunctionalJobs:
    described = {"adapter": "http", "endpoint": "http://127.0.0.1:1/", **access}
    ref = SkillRef(
        id=of.id,
        name=of.name,
        version=of.version,
        digest=of.digest,
        access=Access(**described),
        input_schema=of.input_schema,
        example=of.example,
    )
    return functional_jobs("run", of, ref, benchmarks, rules.functional)


def test_tasks_are_repeated_and_edge_cases_are_not(rules: Policy) -> None:
    """Each repeat has an id of its own under one probe name."""
    tool = skill(text(), test_cases=(TestCase(name="one", input={"text": "a"}, expected=1),))

    once, thrice = jobs(tool, rules), jobs(tool, repeated(rules, repeats=3))

    assert len(thrice.tasks) == 3 * len(once.tasks) == 6
    assert thrice.edge_cases == once.edge_cases != {}
    assert {one.probe for one in thrice.planned} == {one.probe for one in once.planned}
    assert len({one.job_id for one in thrice.planned}) == len(thrice.planned)


def test_every_job_is_planned_and_only_misfits_are_planned_without_one(rules: Policy, tmp_path: Path) -> None:
    """A task that cannot be asked is in the plan, says why, and is never sent."""
    found = jobs(skill(text()), rules, benchmark(tmp_path, exact(1), exact(2, inputData={"text": "x"})))

    sent = {*found.tasks, *found.edge_cases}
    assert {one.job_id for one in found.planned if not one.misfit} == sent
    assert [one.probe for one in found.planned if one.misfit] == ["mine/t0"]


def test_a_benchmark_about_manifests_calls_nobody(rules: Policy, tmp_path: Path) -> None:
    """Its jobs hold the subject, and cost no request."""
    mine = benchmark(tmp_path, ABOUT_NAME, metadata={"subject": "manifest"})

    (job,) = [one for one in jobs(skill(text()), rules, mine).tasks.values() if isinstance(one, ExamineJob)]

    assert (job.subject, requests_of(job)) == ("Tool", 0)


def test_the_requests_of_a_skill_are_known_before_any_is_made(rules: Policy) -> None:
    """One a task, two for a call that is to be refused, one for any other edge case; the policy's limit holds."""
    found = jobs(skill(text()), rules)

    for job in (*found.tasks.values(), *found.edge_cases.values()):
        assert isinstance(job, FunctionalJob | EdgeCaseJob)
        assert requests_of(job) == (2 if isinstance(job, EdgeCaseJob) and job.wanted is Wanted.REFUSED else 1)
    assert sum(map(requests_of, found.edge_cases.values())) < rules.functional.edge_cases.max_requests


def test_a_chat_gets_no_broken_body_and_no_wrong_type(rules: Policy) -> None:
    """Its adapter says that the inputs reach it as text."""
    found = jobs(skill(text()), rules, adapter="chat", options={"model": "m"})

    kinds = {job.probe.split("/")[1] for job in found.edge_cases.values()}
    assert kinds <= {"unicode", "bound", "empty", "unbounded"}
    assert "unicode" in kinds


def planned_latency(rules: Policy, tool: Skill, *benchmarks: Any) -> float:
    plan = Planner(run_id="run", policy=rules, corpus=loader.load(), benchmarks=benchmarks).plan(tool)
    assert plan is not None
    return plan.max_latency_ms


def test_only_a_benchmark_that_calls_the_skill_limits_its_latency(rules: Policy, tmp_path: Path) -> None:
    """One that does not fit, or is about the manifest, says nothing of how fast an answer must be."""
    fits = benchmark(tmp_path, exact(1, inputData={"text": "x"}), id="fits", maxLatencyMs=900)
    misfit = benchmark(tmp_path, exact(1), id="misfit", maxLatencyMs=50)
    about = benchmark(tmp_path, ABOUT_NAME, id="about", maxLatencyMs=60, metadata={"subject": "manifest"})

    assert planned_latency(rules, skill(text()), fits, misfit, about) == 900
    assert planned_latency(rules, skill(text()), misfit, about) == rules.performance.max_latency_ms


def test_edge_cases_run_alone_and_after_the_tasks(rules: Policy) -> None:
    """What one of them breaks must not be billed to another job."""
    plan = Planner(run_id="run", policy=rules, corpus=loader.load()).plan(skill(text()))

    assert plan is not None
    tasks, edges, *_ = plan.stages
    assert {type(job) for job in tasks.jobs.values()} == {FunctionalJob}
    assert {type(job) for job in edges.jobs.values()} == {EdgeCaseJob}
    assert (edges.lanes, edges.exclusive) == (1, True)


def test_no_edge_cases_where_the_policy_has_none(rules: Policy) -> None:
    """A limit of no requests."""
    none = msgspec.structs.replace(rules.functional.edge_cases, max_requests=0)
    without = msgspec.structs.replace(rules, functional=msgspec.structs.replace(rules.functional, edge_cases=none))

    assert jobs(skill(text()), without).edge_cases == {}


def test_a_skill_that_is_not_called_can_be_examined(rules: Policy, tmp_path: Path) -> None:
    """Its manifest is there, with or without an endpoint; what would call it is left out."""
    about = benchmark(tmp_path, ABOUT_NAME, metadata={"subject": "manifest"})
    calls = benchmark(tmp_path, exact(1, inputData={"text": "x"}), id="calls")
    silent = skill(text(), access=None)

    both = Planner(run_id="run", policy=rules, corpus=loader.load(), benchmarks=[about, calls])
    alone = Planner(run_id="run", policy=rules, corpus=loader.load(), benchmarks=[calls])

    plan = both.examination(silent)
    assert plan is not None
    assert [type(job) for stage in plan.stages for job in stage.jobs.values()] == [ExamineJob]
    assert [one.probe for one in plan.planned] == ["mine/t0"]
    assert both.plan(silent) is None
    assert alone.examination(silent) is None
