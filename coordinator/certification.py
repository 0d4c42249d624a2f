"""The assessment behind a certificate: all three pillars, live and static evidence, one verdict."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from coordinator import record
from coordinator.catalog.skill import Rejection, Skill
from coordinator.certify import Mode, certify
from coordinator.plan import Plan, Planner, uncalled_because
from coordinator.reasons import explain
from coordinator.record import Header, Record
from coordinator.run import Concluded
from coordinator.score import score, static_only
from coordinator.static import checks
from coordinator.static.evidence import Context
from coordinator.static.findings import explained, findings, unchecked
from coordinator.tally import tally
from workers.wire.result import Result


class Certification:
    """An `Assessment` by the policy of *context*; static mode needs no *planner*."""

    def __init__(self, header: Header, planner: Planner | None, context: Context) -> None:
        self._header = header
        self._planner = planner
        self._context = context
        self._policy = context.policy

    def plan(self, skill: Skill) -> Plan | None:
        """All three pillars; None in static mode."""
        return self._planner.plan(skill) if self._planner and self._header.mode is Mode.LIVE else None

    def judge(self, skill: Skill, plan: Plan, results: Mapping[str, Result]) -> Concluded:
        """The verdict on live and static evidence."""
        policy = self._policy
        examined = checks.examine(skill, self._context)
        added = tally(plan.planned, results)
        pillars = score(added, checks.weighed(examined, policy.static), policy, max_latency_ms=plan.max_latency_ms)
        live = explain(added, pillars, policy, max_latency_ms=plan.max_latency_ms)
        reasons = (*live, *explained(examined), *unchecked(examined))
        judged = record.judged(
            skill,
            certify(Mode.LIVE, pillars, policy, notes=reasons, left_out=added.left_out),
            pillars,
            self._header,
            quiet=added.performance.quiet,
            sustained=added.performance.sustained,
            findings=(*added.findings, *findings(examined, skill)),
        )
        return _concluded(judged)

    def uncalled(self, skill: Skill) -> Concluded:
        """The verdict on static evidence alone."""
        examined = checks.examine(skill, self._context)
        pillars = static_only(checks.weighed(examined, self._policy.static))
        notes = [f"{pillar}: there is no static evidence" for pillar, one in pillars.items() if one.static is None]
        notes += [*explained(examined), *unchecked(examined)]
        if self._header.mode is Mode.LIVE:
            notes.insert(0, uncalled_because(skill))
        judged = record.judged(
            skill,
            certify(Mode.STATIC, pillars, self._policy, notes=notes),
            pillars,
            msgspec.structs.replace(self._header, mode=Mode.STATIC),
            findings=findings(examined, skill),
        )
        return _concluded(judged)

    def reject(self, rejection: Rejection) -> Concluded:
        """The record of an entry that is no skill."""
        return _concluded(record.rejected(rejection, self._header))

    def unexamined(self, source: str, reason: str) -> Concluded:
        """The record of what stands at *source* and could not be examined, through our own fault."""
        return _concluded(record.unexamined(source, reason, self._header))


def _concluded(one: Record) -> Concluded:
    return Concluded(skill_id=one.skill.id or "", verdict=one.verdict, overall=one.overall, line=record.line(one))
