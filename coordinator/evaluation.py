"""The assessment behind `eval`: the functional pillar alone, no attack, no latency series, no certificate."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from coordinator import scorecard
from coordinator.catalog.skill import Rejection, Skill
from coordinator.certify import UNDECIDED
from coordinator.measures import measure
from coordinator.plan import Plan, Planner, uncalled_because
from coordinator.policy import Policy
from coordinator.reasons import explain_functional
from coordinator.report.figures import percent
from coordinator.run import Concluded
from coordinator.score import blend, functional
from coordinator.scorecard import Grade, Header, Measures, Scorecard
from coordinator.tally import tally
from workers.wire.job import Pillar
from workers.wire.result import Result


class Evaluation:
    """An `Assessment` by the tasks of the benchmarks called *groups*, by all functional tasks where there are none.

    A skill passes with a completion rate of at least *min_completion*.
    """

    def __init__(
        self, header: Header, planner: Planner, policy: Policy, *, groups: frozenset[str], min_completion: float
    ) -> None:
        self._header = header
        self._planner = planner
        self._policy = policy
        self._groups = groups
        self._min_completion = min_completion

    def plan(self, skill: Skill) -> Plan | None:
        """The functional part of a certification's plan; for a skill that is not called, what examines its manifest."""
        plan = self._planner.plan(skill) or self._planner.examination(skill)
        if plan is None or plan.discovers:
            return plan
        planned = tuple(
            job
            for job in plan.planned
            if job.pillar is Pillar.FUNCTIONAL and (not self._groups or job.group in self._groups)
        )
        kept = {job.job_id for job in planned}
        stages = (
            replace(stage, jobs={id_: job for id_, job in stage.jobs.items() if id_ in kept}) for stage in plan.stages
        )
        return replace(plan, planned=planned, stages=tuple(stage for stage in stages if stage.jobs))

    def awaits(self, skill: Skill) -> None:
        """Nothing: the results are all there is."""

    def judge(self, skill: Skill, plan: Plan, results: Mapping[str, Result]) -> Concluded:
        """The scorecard by what came back."""
        added = tally(plan.planned, results)
        found = measure(plan.planned, results, added, self._policy, max_latency_ms=plan.max_latency_ms)
        grade, reasons = self._grade(found)
        pillar = blend(functional(added.groups, self._policy), None, self._policy)
        reasons += explain_functional(added, pillar)
        return _concluded(
            scorecard.scorecard(skill, grade, reasons, self._header, measures=found, findings=added.findings)
        )

    def uncalled(self, skill: Skill) -> Concluded:
        """The scorecard of a skill that cannot be called."""
        return _concluded(scorecard.scorecard(skill, Grade.INCOMPLETE, [uncalled_because(skill)], self._header))

    def reject(self, rejection: Rejection) -> Concluded:
        """The scorecard of an entry that is no skill."""
        reason = f"expected {rejection.expected}, found {rejection.found}"
        return _concluded(scorecard.scorecard(rejection, Grade.REJECTED, [reason], self._header))

    def _grade(self, found: Measures) -> tuple[Grade, list[str]]:
        """Incomplete only while what is missing could still decide."""
        least, wanted = self._min_completion, self._policy.certificate.min_coverage
        if not found.planned:
            return Grade.INCOMPLETE, ["no task can be asked of the inputs that it declares"]
        thin = [f"coverage {percent(found.coverage)} is below {percent(wanted)}"] if found.coverage < wanted else []
        best = (found.passed + found.planned - found.judged) / found.planned
        if thin and best >= least:
            return Grade.INCOMPLETE, [*thin, UNDECIDED]
        if found.completion_rate is None or found.completion_rate < least:
            return Grade.FAILED, [f"completion {percent(found.completion_rate)} is below {percent(least)}", *thin]
        return Grade.PASSED, []


def _concluded(card: Scorecard) -> Concluded:
    completion = card.measures.completion_rate if card.measures else None
    overall = None if completion is None else 100 * completion
    return Concluded(skill_id=card.skill.id or "", verdict=card.verdict, overall=overall, line=scorecard.line(card))
