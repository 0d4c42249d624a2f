"""Why a skill got its scores, in sentences that its author can act on. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from coordinator.certify import shown
from coordinator.policy import Policy
from coordinator.score import PillarScore, waits
from coordinator.tally import HYGIENE, Finding, Tally
from workers.wire.job import Pillar
from workers.wire.percentiles import percentile
from workers.wire.result import Outcome

NAMED = 3
QUOTED_CHARS = 160
LOST_POINTS = frozenset({Outcome.FAIL, Outcome.PARTIAL, Outcome.TIMEOUT, Outcome.ERROR})


def explain(
    tally: Tally, pillars: Mapping[Pillar, PillarScore], policy: Policy, *, max_latency_ms: float
) -> tuple[str, ...]:
    """One sentence or more for each pillar that lost points or could not be judged."""
    return (
        *_unjudged(tally),  # first: it is the operator's to mend, and the rest may follow from it
        *_functional(tally, pillars[Pillar.FUNCTIONAL]),
        *_security(tally, policy),
        *_performance(tally, pillars[Pillar.PERFORMANCE], max_latency_ms),
        *_static(pillars),
    )


def explain_functional(tally: Tally, pillar: PillarScore) -> tuple[str, ...]:
    """The same of a skill that was asked for its functional pillar alone."""
    return (*_functional(tally, pillar), *_unjudged(tally))


def _functional(tally: Tally, pillar: PillarScore) -> Iterator[str]:
    found = [one for one in tally.findings if one.pillar is Pillar.FUNCTIONAL]
    tasks = [one for one in found if one.outcome is not Outcome.NOT_APPLICABLE]
    lost = [one for one in tasks if one.outcome in LOST_POINTS]
    if lost:
        yield f"functional {shown(pillar.score)}: {len(lost)} of {len(tasks)} tasks lost points: {_named(lost)}"
    if misfits := [one for one in found if one.outcome is Outcome.NOT_APPLICABLE]:
        yield f"functional: {len(misfits)} of {len(found)} tasks do not apply to this skill: {_named(misfits)}"
    if flaky := [one.probe for one in tally.repeated if 0 < one.passed < one.judged]:
        yield f"functional: {len(flaky)} of {len(tally.repeated)} repeated tasks are flaky: {_listed(flaky)}"


def _security(tally: Tally, policy: Policy) -> Iterator[str]:
    found = [one for one in tally.findings if one.pillar is Pillar.SECURITY]
    probes = [one for one in found if one.probe != HYGIENE]
    for one in found:
        if one.probe == HYGIENE and one.outcome is Outcome.FAIL:
            yield f"hygiene (no points lost): {_quoted(one.evidence)}"
    for one in probes:
        if one.outcome is Outcome.EXPLOITED:
            cap = policy.security.caps.of(one.severity or "low")
            yield f"{one.probe} ({one.severity}) exploited, which caps security at {cap:g}: {_quoted(one.evidence)}"
        elif one.outcome is Outcome.SUSPECT:
            yield f"{one.probe} ({one.severity}) suspect: {_quoted(one.evidence)}"
    open_ = [one for one in probes if one.outcome in (Outcome.INCONCLUSIVE, Outcome.ERROR)]
    if open_:
        yield f"security: {len(open_)} of {len(probes)} attacks could not be decided: {_named(open_)}"
    if probes and not tally.security.applicable:
        yield "security: no declared input can carry an attack, so there is no live evidence of resisting one"


def _performance(tally: Tally, pillar: PillarScore, max_latency_ms: float) -> Iterator[str]:
    for name, series in (("quiet", tally.performance.quiet), ("sustained", tally.performance.sustained)):
        if series is None or len(series.samples_ms) == series.planned:
            continue
        failed = series.planned - len(series.samples_ms)
        yield (
            f"performance {shown(pillar.score)}: {failed} of {series.planned} {name} requests failed "
            f"({series.timeouts} timed out); each counts as {max_latency_ms:g} ms"
        )
    quiet, sustained = tally.performance.quiet, tally.performance.sustained
    if pillar.live is not None and pillar.live < 100 and quiet is not None and quiet.samples_ms:
        slow = percentile(waits(quiet, max_latency_ms), 0.95)
        sentence = f"performance {shown(pillar.score)}: p95 {slow:.0f} ms of at most {max_latency_ms:g} ms"
        if sustained is not None:
            sentence += f", {percentile(waits(sustained, max_latency_ms), 0.95):.0f} ms under sustained load"
        yield sentence


def _unjudged(tally: Tally) -> Iterator[str]:
    why = Counter(one.evidence for one in tally.findings if one.outcome is Outcome.UNJUDGED)
    for evidence, count in sorted(why.items(), key=lambda pair: (-pair[1], pair[0]))[:NAMED]:
        yield f"{count} of {len(tally.findings)} jobs unjudged, through no fault of the skill: {_quoted(evidence)}"


def _static(pillars: Mapping[Pillar, PillarScore]) -> Iterator[str]:
    alone = [pillar.value for pillar, one in pillars.items() if one.static is None and one.live is not None]
    if alone:
        them = "it" if len(alone) == 1 else "them"
        yield f"{' and '.join(alone)}: live evidence alone, there is no static evidence for {them} yet"


def _named(findings: Sequence[Finding]) -> str:
    """The findings by outcome: some names each, and what the first of them showed."""
    by_outcome: dict[Outcome, list[Finding]] = {}
    for one in findings:
        by_outcome.setdefault(one.outcome, []).append(one)
    return "; ".join(
        f"{_listed([one.probe for one in group])} {outcome}: {_quoted(group[0].evidence)}"
        for outcome, group in by_outcome.items()
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _quoted(evidence: str) -> str:
    line = " ".join(evidence.split())
    return line if len(line) <= QUOTED_CHARS else line[: QUOTED_CHARS - 1] + "…"
