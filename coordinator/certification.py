"""The assessment behind a certificate: all three pillars, live and static evidence, one verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol

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
from coordinator.static.evidence import Context, Examined
from coordinator.static.findings import explained, findings, unchecked
from coordinator.tally import tally
from workers.wire.result import Result


class Elsewhere(Protocol):
    """Where skills are examined beside the run."""

    def begin(self, skill: Skill) -> None:
        """Begin to examine *skill*, unless it is quickly done here."""
        ...

    def end(self, skill: Skill) -> asyncio.Future[None] | None:
        """When *skill* has been examined; None where it has, or was not begun."""
        ...

    def taken(self, skill: Skill) -> dict[str, Examined] | None:
        """What the checks made of *skill*, which is forgotten here; None where it was not begun."""
        ...


class Certification:
    """An `Assessment` by the policy of *context*; static mode needs no *planner*.

    *elsewhere* examines what would take long; without it everything is examined here.
    """

    def __init__(
        self, header: Header, planner: Planner | None, context: Context, elsewhere: Elsewhere | None = None
    ) -> None:
        self._header = header
        self._planner = planner
        self._context = context
        self._policy = context.policy
        self._elsewhere = elsewhere

    def plan(self, skill: Skill) -> Plan | None:
        """All three pillars; None in static mode. What is to be examined elsewhere is, from now on."""
        if self._elsewhere is not None:
            self._elsewhere.begin(skill)
        return self._planner.plan(skill) if self._planner and self._header.mode is Mode.LIVE else None

    def awaits(self, skill: Skill) -> asyncio.Future[None] | None:
        """The end of its examination, where it is examined elsewhere."""
        return None if self._elsewhere is None else self._elsewhere.end(skill)

    def examine(self, skill: Skill) -> dict[str, Examined]:
        """What every static check makes of *skill*, by the check's name."""
        found = None if self._elsewhere is None else self._elsewhere.taken(skill)
        return checks.examine(skill, self._context) if found is None else found

    def judge(self, skill: Skill, plan: Plan, results: Mapping[str, Result]) -> Concluded:
        """The verdict on live and static evidence."""
        policy = self._policy
        examined = self.examine(skill)
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
        examined = self.examine(skill)
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
