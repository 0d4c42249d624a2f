from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator import scorecard
from coordinator.catalog.skill import Rejection, TestCase
from coordinator.evaluation import Evaluation
from coordinator.plan import Planner
from coordinator.policy import Policy
from coordinator.scorecard import Grade, Header, Scorecard, Stamps
from payloads.loader import load
from tests.coordinator.skills import skill, text
from workers.wire.job import Pillar
from workers.wire.result import Exchange, Judged, Outcome, Result, Unjudged, Verdict

CASES = tuple(TestCase(name=f"case {at}", input={"text": str(at)}, expected=at) for at in range(9))


def evaluation(rules: Policy, *, groups: frozenset[str] = frozenset(), least: float = 0.7) -> Evaluation:
    header = Header(run_id="run", stamps=Stamps(engine="0", policy="p", benchmarks={}, min_completion=least))
    planner = Planner(run_id="run", policy=rules, corpus=load(), attacks=())
    return Evaluation(header, planner, rules, groups=groups, min_completion=least)


def judged(job_id: str, outcome: Outcome = Outcome.PASS, *, ms: float | None = 2.0) -> Judged:
    score = 1.0 if outcome is Outcome.PASS else 0.0
    exchanges = () if ms is None else (Exchange(step="call", status=200, body="1", elapsed_ms=ms),)
    verdict = Verdict(outcome=outcome, score=score, evidence="seen", requests=1, exchanges=exchanges)
    return Judged(job_id=job_id, run_id="run", skill_digest="d", pillar=Pillar.FUNCTIONAL, probe="p", verdict=verdict)


def unjudged(job_id: str) -> Unjudged:
    return Unjudged(
        job_id=job_id, run_id="run", skill_digest="d", pillar=Pillar.FUNCTIONAL, probe="p", reason="worker lost"
    )


def card(assessment: Evaluation, outcomes: list[Outcome | None], **changes: Any) -> Scorecard:
    """The scorecard of a skill whose test cases end so, in their order; None is unjudged."""
    tested = skill(text(), test_cases=CASES[: len(outcomes)], **changes)
    plan = assessment.plan(tested)
    assert plan is not None
    results: Mapping[str, Result] = {
        job.job_id: unjudged(job.job_id) if outcome is None else judged(job.job_id, outcome)
        for job, outcome in zip(plan.planned, outcomes, strict=True)
    }
    return scorecard.parse(assessment.judge(tested, plan, results).line)


ONLY_CASES = frozenset({"test_cases"})


def test_only_the_functional_pillar_is_asked(rules: Policy) -> None:
    """No attack and no latency series; without benchmarks the skill's own example, test cases and edge cases."""
    plan = evaluation(rules).plan(skill(text(), test_cases=CASES))

    assert plan is not None
    assert {job.pillar for job in plan.planned} == {Pillar.FUNCTIONAL}
    assert {job.group for job in plan.planned} == {"example", "test_cases", "edge_cases"}
    assert {id_ for stage in plan.stages for id_ in stage.jobs} == {job.job_id for job in plan.planned}


def test_only_what_was_chosen_is_asked(rules: Policy) -> None:
    """With benchmarks, their tasks and nothing else."""
    plan = evaluation(rules, groups=ONLY_CASES).plan(skill(text(), test_cases=CASES))

    assert plan is not None
    assert [job.group for job in plan.planned] == ["test_cases"] * 9
    assert sum(len(stage.jobs) for stage in plan.stages) == 9


@pytest.mark.parametrize(
    ("passed", "failed", "missing", "least", "grade"),
    [
        (9, 0, 0, 1.0, Grade.PASSED),
        (7, 2, 0, 0.7, Grade.PASSED),
        (6, 3, 0, 0.7, Grade.FAILED),
        (0, 9, 0, 0.0, Grade.PASSED),
        (8, 0, 1, 0.7, Grade.INCOMPLETE),
        (0, 0, 9, 0.7, Grade.INCOMPLETE),
        (1, 7, 1, 0.7, Grade.FAILED),
    ],
)
def test_the_grade_is_the_completion_unless_missing_evidence_could_decide(
    rules: Policy, passed: int, failed: int, missing: int, least: float, grade: Grade
) -> None:
    """A skill that would fail even if all that is missing passed has failed; what is missing is never counted."""
    outcomes: list[Outcome | None] = [
        *[Outcome.PASS] * passed, *[Outcome.FAIL] * failed, *[None] * missing,
    ]  # fmt: skip

    found = card(evaluation(rules, groups=ONLY_CASES, least=least), outcomes)

    assert found.verdict is grade
    assert found.measures is not None
    assert found.measures.completion_rate == (None if missing == 9 else pytest.approx(passed / (passed + failed)))
    assert found.measures.coverage == pytest.approx((9 - missing) / 9)


def test_errors_and_timeouts_are_the_error_rate(rules: Policy) -> None:
    """A wrong answer is no error; the composite weighs completion, latency and errors."""
    outcomes: list[Outcome | None] = [Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT]

    measures = card(evaluation(rules, groups=ONLY_CASES), outcomes).measures

    assert measures is not None
    assert measures.error_rate == 0.5
    assert measures.completion_rate == 0.25
    assert measures.latency_ms is not None
    assert measures.latency_ms.p95 == 2.0
    assert measures.composite == pytest.approx(0.5 * 0.25 + 0.2 * (1 - 2 / 30_000) + 0.3 * 0.5)


def test_consistency_is_one_minus_the_deviation_of_the_repeats(rules: Policy) -> None:
    """Two tasks, three repeats with completions of 1, 0.5 and 0; tasks that passed in some only are named."""
    from msgspec.structs import replace

    thrice = replace(rules, functional=replace(rules.functional, repeats=3))
    assessment = evaluation(thrice, groups=ONLY_CASES)
    tested = skill(text(), test_cases=CASES[:2])
    plan = assessment.plan(tested)
    assert plan is not None
    a, b = Outcome.PASS, Outcome.FAIL
    results = {job.job_id: judged(job.job_id, end) for job, end in zip(plan.planned, (a, a, b, a, b, b), strict=True)}

    found = scorecard.parse(assessment.judge(tested, plan, results).line)

    assert found.measures is not None
    assert (found.measures.tasks, found.measures.runs, found.measures.planned) == (2, 3, 6)
    assert found.measures.consistency == pytest.approx(1 - (1 / 6) ** 0.5)
    assert found.measures.flaky == ("test_case/case 0", "test_case/case 1")


def test_a_single_run_has_no_consistency(rules: Policy) -> None:
    """There is nothing to compare it with."""
    measures = card(evaluation(rules, groups=ONLY_CASES), [Outcome.PASS]).measures

    assert measures is not None
    assert measures.consistency is None
    assert measures.runs == 1


def test_a_skill_that_never_answered_has_no_latency_and_no_credit_for_it(rules: Policy) -> None:
    """No evidence of speed is none, and a skill that hangs is not a fast one."""
    assessment = evaluation(rules, groups=ONLY_CASES)
    tested = skill(text(), test_cases=CASES[:1])
    plan = assessment.plan(tested)
    assert plan is not None
    late = judged(plan.planned[0].job_id, Outcome.TIMEOUT, ms=None)

    found = scorecard.parse(assessment.judge(tested, plan, {late.job_id: late}).line)

    assert found.measures is not None
    assert found.measures.latency_ms is None
    assert found.measures.composite == 0.0


def test_entries_that_are_not_called_have_a_scorecard_too(rules: Policy) -> None:
    """Without endpoint incomplete, without a readable manifest rejected; each says why."""
    assessment = evaluation(rules)

    without = scorecard.parse(assessment.uncalled(skill(text(), access=None)).line)
    rejected = scorecard.parse(
        assessment.reject(Rejection(source="x.json", pointer="/name", expected="a text", found="1")).line
    )

    assert (without.verdict, rejected.verdict) == (Grade.INCOMPLETE, Grade.REJECTED)
    assert without.reasons == ("the manifest names no live endpoint",)
    assert rejected.reasons == ("expected a text, found 1",)
    assert rejected.skill.source == "x.json#/name"


@settings(deadline=None)  # a busy machine is no failure
@given(outcomes=st.lists(st.none() | st.sampled_from([Outcome.PASS, Outcome.FAIL, Outcome.ERROR]), max_size=9))
def test_every_rate_stays_within_its_bounds(rules: Policy, outcomes: list[Outcome | None]) -> None:
    """Whatever came back, no rate leaves 0 to 1, and one more pass never lowers the completion."""
    measures = card(evaluation(rules, groups=ONLY_CASES), outcomes).measures

    assert measures is not None
    for rate in (
        measures.completion_rate, measures.partial_score, measures.error_rate, measures.composite, measures.coverage,
    ):  # fmt: skip
        assert rate is None or 0 <= rate <= 1
    assert (measures.completion_rate is None) == (measures.judged == 0)
