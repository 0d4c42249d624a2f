"""Static evidence: each check is worth 100 points, less what its deductions take.

A check is one module of this folder (see `checks`). It says what it took points for, or why it could not look: through
our own fault (`Unchecked`, which lowers the coverage), or because there is nothing to look at (`Inapplicable`). What
the skill's author left unsaid is neither: it earns nothing, and is a deduction with the outcome `inconclusive`.

A pillar's static evidence is the weighted mean of its checks, under the lowest ceiling of any finding: what the source
shows outweighs what the manifest claims, however well the claims are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from coordinator.policy import Policy, StaticPolicy
from workers.wire.result import Outcome

if TYPE_CHECKING:
    from coordinator.osv.advisories import Advisories

FULL = 100.0
SEVERITIES = ("low", "medium", "high", "critical")


class Context(Struct, frozen=True, kw_only=True):
    """What a check may use beside the skill.

    *folder* is the catalog's: no source may lie outside it. *advisories* are what is known of vulnerable packages, or
    in one sentence why nothing is. *now* is when the run began, in UTC.
    """

    policy: Policy
    folder: Path
    advisories: Advisories | str
    now: datetime


class Deduction(Struct, frozen=True):
    """*points* lost for what stands at *field*, and why.

    *field* is a JSON pointer into the manifest, or a file of the source with a line or a pointer. *ceiling* is the most
    that the pillar's static evidence is worth with it. *rule* is a stable id, such as ``dependencies/vulnerable``.
    """

    field: str
    reason: str
    points: float
    rule: str = "manifest"
    severity: str | None = None
    ceiling: float = FULL
    outcome: Outcome = Outcome.FAIL


class Checked(Struct, frozen=True):
    """A check that was made; *coverage* is the share of its subject that could be looked at, 0 to 1."""

    deductions: tuple[Deduction, ...] = ()
    coverage: float = 1.0

    @property
    def score(self) -> float:
        """0 to 100: what this check alone would leave."""
        return _score(self.deductions)


class Unchecked(Struct, frozen=True):
    """A check that could not be made through our own fault, and what is to be done."""

    reason: str


class Inapplicable(Struct, frozen=True):
    """A check that has nothing to look at in this skill."""

    reason: str


Examined = Checked | Unchecked | Inapplicable


class StaticEvidence(Struct, frozen=True):
    """Of one pillar. *score* and *ceiling* are 0 to 100; *coverage* is 0 to 1, over the checks that apply.

    *score* is None where no check was made; *ceiling* is the score if all that was not looked at were perfect.
    """

    score: float | None
    coverage: float = 1.0
    ceiling: float = FULL


def graded(field: str, reason: str, rule: str, severity: str, policy: StaticPolicy) -> Deduction:
    """A finding against the skill, with the points and the ceiling that *policy* gives its *severity*."""
    return Deduction(field, reason, policy.points.of(severity), rule, severity, policy.ceilings.of(severity))


def unverified(field: str, reason: str, rule: str, policy: StaticPolicy) -> Deduction:
    """That there is nothing to verify a check by: it earns nothing, and no finding against the skill."""
    return Deduction(field, reason, policy.unverified, rule, outcome=Outcome.INCONCLUSIVE)


def weigh(examined: Mapping[str, Examined], policy: StaticPolicy) -> StaticEvidence | None:
    """What the checks of one pillar, by name, amount to; None where none of them applies."""
    applicable = {name: one for name, one in examined.items() if not isinstance(one, Inapplicable)}
    if not applicable:
        return None
    total = math.fsum(policy.weights.of(name) for name in applicable)
    made = [(policy.weights.of(name), one) for name, one in applicable.items() if isinstance(one, Checked)]
    looked = math.fsum(weight * one.coverage for weight, one in made)
    earned = math.fsum(weight * one.coverage * one.score for weight, one in made)
    ceiling = min((taken.ceiling for _, one in made for taken in one.deductions), default=FULL)
    return StaticEvidence(
        score=round(min(ceiling, earned / looked), 9) if looked else None,
        coverage=round(looked / total, 9),
        ceiling=round(min(ceiling, (earned + FULL * (total - looked)) / total), 9),
    )


def diminishing(deductions: Iterable[Deduction], policy: StaticPolicy) -> tuple[Deduction, ...]:
    """*deductions* with each further one of the same rule and severity worth less, by the factor of *policy*.

    Those of one severity and below together take no more than leaves the ceiling of the next worse severity. (Not
    taken: a limit for each rule. A hundred rules with a nit each would still outweigh a hole.) The points are what each
    really takes, so they add up.
    """
    seen: dict[tuple[str, str | None], int] = {}
    left = _budgets(policy)
    found = []
    for one in deductions:
        before = seen.get((one.rule, one.severity), 0)
        seen[one.rule, one.severity] = before + 1
        points = one.points * policy.repeat ** min(before, 64)
        if one.severity is not None:
            at_least = SEVERITIES.index(one.severity)
            points = min([points, *left[at_least:]])
            left[at_least:] = [budget - points for budget in left[at_least:]]
        found.append(msgspec.structs.replace(one, points=points))
    return tuple(found)


def _budgets(policy: StaticPolicy) -> list[float]:
    """The points that all findings up to each of `SEVERITIES` may take together."""
    return [FULL - policy.ceilings.of(worse) for worse in SEVERITIES[1:]] + [FULL]


def _score(deductions: Iterable[Deduction]) -> float:
    points, ceiling = [], FULL
    for one in deductions:
        points.append(one.points)
        ceiling = min(ceiling, one.ceiling)
    return min(ceiling, max(0.0, FULL - math.fsum(points)))
