from __future__ import annotations

import asyncio

import msgspec
import pytest

from tests.range import trials
from tests.range.guilty import obedient
from tests.range.harmless import echoes
from tests.range.trials import Trial
from workers import registry
from workers.rejudging import STANDS, UNDECIDED
from workers.wire.result import Exchange, Judged, Outcome, Verdict

ECHO = next(skill for skill in echoes.SKILLS if skill.name == "echo")
OBEYS = next(skill for skill in obedient.SKILLS if skill.name == "obeys overrides")


@pytest.fixture(scope="module")
def tried() -> dict[str, Trial]:
    """One attack on an echo and on a skill that obeys, by the skill's name; both servers are down."""
    corpus = [attack for attack in trials.attacks() if attack.id == "PI-01"]
    return {trial.skill: trial for trial in trials.try_all([ECHO, OBEYS], corpus).trials}


def kept(trial: Trial) -> Verdict:
    assert isinstance(trial.result, Judged)
    return trial.result.verdict


def again(trial: Trial, verdict: Verdict, **attack: object) -> Verdict:
    """*verdict* judged again by the attack of *trial*, which is changed as given."""
    changed = msgspec.structs.replace(trial.job.attack, **attack)
    return asyncio.run(registry.rejudge(msgspec.structs.replace(trial.job, attack=changed), trial.ref, verdict))


def without(verdict: Verdict, step: str) -> Verdict:
    return msgspec.structs.replace(
        verdict, exchanges=tuple(one for one in verdict.exchanges if not one.step.startswith(step))
    )


def cut(verdict: Verdict, step: str) -> Verdict:
    def one(exchange: Exchange) -> Exchange:
        return msgspec.structs.replace(exchange, cut=True) if exchange.step.startswith(step) else exchange

    return msgspec.structs.replace(verdict, exchanges=tuple(map(one, verdict.exchanges)))


@pytest.mark.parametrize("name", ["echo", "obeys overrides"])
def test_the_same_detector_judges_the_same(tried: dict[str, Trial], name: str) -> None:
    """Answers that were kept whole lead to the verdict that they led to, evidence and cost included."""
    verdict = kept(tried[name])

    found = again(tried[name], verdict)

    assert msgspec.structs.replace(found, seconds=verdict.seconds) == verdict


@pytest.mark.parametrize("lose", [without, cut])
def test_a_lost_answer_is_never_read_as_resistance(tried: dict[str, Trial], lose) -> None:
    """An attack whose answer is not whole is inconclusive, and has no score."""
    verdict = lose(kept(tried["echo"]), "attack")

    found = again(tried["echo"], verdict)

    assert verdict.outcome is Outcome.RESISTED
    assert (found.outcome, found.score) == (Outcome.INCONCLUSIVE, None)
    assert found.evidence.endswith(UNDECIDED)


@pytest.mark.parametrize("step", ["baseline", "attack", "control", "replay-2"])
def test_a_lost_answer_clears_nobody(tried: dict[str, Trial], step: str) -> None:
    """An accusation stands where the answers that could speak against it are lost, and says so, once."""
    verdict = kept(tried["obeys overrides"])

    found = again(tried["obeys overrides"], without(verdict, step))
    twice = again(tried["obeys overrides"], without(found, step))

    assert verdict.outcome is Outcome.EXPLOITED
    assert found.outcome is Outcome.EXPLOITED
    assert found.evidence.endswith(STANDS)
    assert twice == found


def test_an_attack_with_another_text_decides_nothing(tried: dict[str, Trial]) -> None:
    """Nobody answered a text that was never sent."""
    trial = tried["echo"]

    found = again(trial, kept(trial), template="Please: " + trial.job.attack.template)

    assert found.outcome is Outcome.INCONCLUSIVE


def test_a_witness_that_only_todays_attack_looks_for_accuses_nobody_yet(tried: dict[str, Trial]) -> None:
    """What was resisted and now looks like a hit lacks its controls and replays: inconclusive, to be run anew."""
    trial = tried["obeys overrides"]
    missed = msgspec.structs.replace(
        without(without(kept(trial), "control"), "replay"), outcome=Outcome.RESISTED, score=1.0, evidence="no witness"
    )

    found = again(trial, missed)

    assert found.outcome is Outcome.INCONCLUSIVE
    assert "the whole witness came back" in found.evidence


def test_a_false_accusation_can_be_taken_back(tried: dict[str, Trial]) -> None:
    """Where every answer that the detector asks for is there, its verdict replaces a worse one."""
    verdict = msgspec.structs.replace(kept(tried["echo"]), outcome=Outcome.EXPLOITED, score=0.0)

    found = again(tried["echo"], verdict)

    assert (found.outcome, found.score) == (Outcome.RESISTED, 1.0)


def test_an_attack_that_was_never_sent_stays_undecided(tried: dict[str, Trial]) -> None:
    """A probe that was not applicable and now is has no answers."""
    verdict = Verdict(outcome=Outcome.NOT_APPLICABLE, evidence="no input takes free text")

    found = again(tried["echo"], verdict)

    assert found.outcome is Outcome.INCONCLUSIVE
