"""Static evidence as the findings of a record, and as reasons."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from coordinator.catalog.skill import Skill
from coordinator.certify import shown
from coordinator.static.checks import checks
from coordinator.static.evidence import SEVERITIES, Checked, Deduction, Examined, Unchecked
from coordinator.tally import Finding
from workers.wire.job import Pillar
from workers.wire.result import Outcome

NAMED = 3


def findings(examined: Mapping[str, Examined], skill: Skill) -> tuple[Finding, ...]:
    """One finding of *skill* for each deduction, and one for each check, by name, that could not be made."""
    return tuple(_findings(examined, skill.source_path or "."))


def explained(examined: Mapping[str, Examined]) -> list[str]:
    """For each check that lost points, how many and for what most, in one sentence."""
    sentences = []
    for name, one in examined.items():
        lost = sorted((taken for taken in _deductions(one) if taken.points), key=lambda taken: -taken.points)
        if not lost or not isinstance(one, Checked):
            continue
        more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
        told = "; ".join(_told(taken) for taken in lost[:NAMED])
        sentences.append(f"{checks()[name].PILLAR}, {name.replace('_', ' ')} {shown(one.score)}: {told}{more}")
    return sentences


def unchecked(examined: Mapping[str, Examined]) -> list[str]:
    """Why checks, or parts of them, could not be made; each reason once."""
    reasons = {
        f"{name}: {one.reason}": None
        for name, check in examined.items()
        for one in ([check] if isinstance(check, Unchecked) else _deductions(check))
        if isinstance(one, Unchecked) or one.outcome is Outcome.UNJUDGED
    }
    return list(reasons)


def _findings(examined: Mapping[str, Examined], folder: str) -> Iterator[Finding]:
    for name, one in examined.items():
        pillar = checks()[name].PILLAR
        if isinstance(one, Unchecked):
            yield _finding(pillar, Deduction("", one.reason, 0, name, outcome=Outcome.UNJUDGED), folder)
        for deduction in _deductions(one):
            yield _finding(pillar, deduction, folder)


def _deductions(one: Examined) -> tuple[Deduction, ...]:
    return one.deductions if isinstance(one, Checked) else ()


def _finding(pillar: Pillar, one: Deduction, folder: str) -> Finding:
    in_source = one.field and not one.field.startswith("/")
    return Finding(
        probe=one.rule,
        pillar=pillar,
        category=None,
        severity=one.severity if one.severity in SEVERITIES else None,
        outcome=one.outcome,
        score=None,
        evidence=_told(one),
        location=posixpath.normpath(posixpath.join(folder, one.field)) if in_source else one.field,
        points=round(one.points, 3),
    )


def _told(one: Deduction) -> str:
    where = f"{one.field}: " if one.field else ""
    lost = f" (-{one.points:.3g})" if one.points else ""
    return f"{where}{one.reason}{lost}"
