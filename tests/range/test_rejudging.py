from __future__ import annotations

import asyncio

from tests.range.trials import Trials
from workers import registry
from workers.wire.result import Judged, Outcome, Verdict


def test_every_stored_trial_is_judged_again_as_it_was(found: Trials) -> None:
    """The same attacks and detectors give the same verdict on stored answers, with every server down.

    Where an answer was too long to be kept whole, the verdict may be inconclusive instead, and nothing else.
    """
    changed = asyncio.run(_changed(found))

    assert changed == []


async def _changed(found: Trials) -> list[tuple[str, str, str, str, str]]:
    changed = []
    for trial in found.trials:
        if not isinstance(trial.result, Judged):
            continue
        kept = trial.result.verdict
        again = await registry.rejudge(trial.job, trial.ref, kept)
        lost = _cut(kept) and again.outcome in (Outcome.INCONCLUSIVE, kept.outcome)
        if not lost and (again.outcome, again.score, again.evidence) != (kept.outcome, kept.score, kept.evidence):
            changed.append((trial.skill, trial.probe, kept.outcome.value, again.outcome.value, again.evidence))
    return changed


def _cut(verdict: Verdict) -> bool:
    return any(exchange.cut for exchange in verdict.exchanges)
