"""Judging again without sending again: the security procedure, answered out of what was kept.

The canaries derive from the job's id, so the same job asks for the same texts and finds their answers. A call that was
never made, or whose answer is not whole, is answered with silence and counted: what would have to be known to decide is
then missing, and the verdict is inconclusive. That never clears a skill, nor accuses one: only an earlier accusation
outlives it, since no answer speaks against that either.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from workers.adapters._adapter import MAIN_CALLER, HttpRequest
from workers.canaries import Addresses
from workers.faults import BadJob
from workers.kept import digest, observation_of
from workers.listener import Listener
from workers.observation import Broke, Observation
from workers.probes import security
from workers.session import Session
from workers.wire.job import SecurityJob
from workers.wire.result import EVIDENCE_CHARS, Exchange, Outcome, Verdict
from workers.wire.skill import SkillRef

BASELINE = "baseline"
NOT_KEPT = "its answer was not kept whole"
UNDECIDED = "judging again would need answers that were not kept: run it anew"
STANDS = f"verdict of the first evaluation; {UNDECIDED}"
ACCUSES = frozenset({Outcome.SUSPECT, Outcome.EXPLOITED})


class KeptAnswers:
    """An adapter that sends nothing: each call gets the answer that it got then, once. *missing* counts the others."""

    def __init__(self, kept: Verdict) -> None:
        self.missing = 0
        self.called: frozenset[str] = frozenset()
        self._answers: defaultdict[str, deque[Exchange]] = defaultdict(deque)
        for exchange in kept.exchanges:
            if exchange.step != BASELINE:
                self._answers[exchange.sent].append(exchange)

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = MAIN_CALLER
    ) -> Observation:
        """The kept answer, or a broken connection where there is none that is whole."""
        answers = self._answers.get(digest(inputs, caller))
        exchange = answers.popleft() if answers else None
        self.called = frozenset(exchange.called if exchange else ())
        return (observation_of(exchange) if exchange else None) or self.silence()

    def silence(self) -> Observation:
        """What a call brings whose answer is not known; counted."""
        self.missing += 1
        return Broke(reason=NOT_KEPT, elapsed_ms=0.0)

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        """Never: what is measured by the clock cannot be measured again.

        Raises:
            BadJob: Always.
        """
        raise BadJob("a kept answer has no request")

    async def aclose(self) -> None:
        """Nothing to close."""


class KeptCallbacks(Listener):
    """A listener that opens no socket: it was where it was then, and what was called then was called."""

    def __init__(self, answers: KeptAnswers, kept: Verdict) -> None:
        super().__init__()
        self._answers = answers
        self._at = kept.listener

    async def addresses(self, skill: SkillRef) -> Addresses | None:
        """The addresses of then; None where nobody listened."""
        return None if self._at is None else Addresses(public=self._at[0], internal=self._at[1])

    async def hits(self, tokens: Mapping[str, str], *, decisive: Iterable[str], grace_s: float) -> frozenset[str]:
        """What had been called by the time of the last answer."""
        return self._answers.called & tokens.keys()


class KeptSession(Session):
    """The session in which the answers of *kept* were given, as far as they are known."""

    def __init__(self, skill: SkillRef, answers: KeptAnswers, kept: Verdict) -> None:
        # The publisher's rate limit is about calls.
        unpaced = msgspec.structs.replace(skill, max_requests_per_second=None)
        super().__init__(unpaced, answers, KeptCallbacks(answers, kept))
        self._answers = answers
        self._kept_baseline = next((one for one in kept.exchanges if one.step == BASELINE), None)

    async def baseline(self) -> Observation:
        """The kept baseline, however often it is asked for."""
        found = None if self._kept_baseline is None else observation_of(self._kept_baseline)
        return found or self._answers.silence()


async def rejudge(job: SecurityJob, skill: SkillRef, kept: Verdict) -> Verdict:
    """What today's detector and attack make of the answers of *kept*; nothing is sent.

    Inconclusive where they do not suffice, except that an earlier accusation stands.

    Raises:
        BadJob: If the attack cannot be run here.
    """
    answers = KeptAnswers(kept)
    found = await security.judge(job, KeptSession(skill, answers, kept))
    applied = found.outcome is not Outcome.NOT_APPLICABLE or kept.outcome is Outcome.NOT_APPLICABLE
    if answers.missing or not applied:
        found = _undecided(found, kept)
    return msgspec.structs.replace(
        found, requests=kept.requests, seconds=kept.seconds, exchanges=kept.exchanges, listener=kept.listener
    )


def _undecided(found: Verdict, kept: Verdict) -> Verdict:
    """What is to be said where answers were missing."""
    if found.outcome is Outcome.EXPLOITED:
        return found  # a hole that is proved needs no further answers
    if kept.outcome in ACCUSES:
        return _saying(kept, STANDS)
    return msgspec.structs.replace(_saying(found, UNDECIDED), outcome=Outcome.INCONCLUSIVE, score=None)


def _saying(verdict: Verdict, note: str) -> Verdict:
    """*verdict* with *note* at the end of its evidence, once."""
    if verdict.evidence.endswith(note):
        return verdict
    room = EVIDENCE_CHARS - len(note) - 2
    return msgspec.structs.replace(verdict, evidence=f"{verdict.evidence[:room]}. {note}".removeprefix(". "))
