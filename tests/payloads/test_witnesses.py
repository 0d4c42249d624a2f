"""No attack holds its own evidence: what proves obedience stands neither in the text nor in what the text yields."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from payloads import loader
from workers import registry
from workers.canaries import Canaries
from workers.carriers import carry
from workers.closure import Closure
from workers.detectors._detector import Texts
from workers.rendering import render
from workers.wire.job import Attack

ATTACKS = {payload.id: msgspec.convert(payload, Attack, from_attributes=True) for payload in loader.load().payloads}
COMPUTED = [one for one in ATTACKS.values() if one.witness or one.detector == "interpreter"]


def pairs(attack: Attack, canaries: Canaries) -> Iterator[tuple[str, str]]:
    """Each text that is sent, with the witness that must not follow from it."""
    texts = Texts(attack, canaries)
    if attack.witness:
        detector = registry.part("detectors", attack.detector).detector(attack)
        for control in ("", *attack.controls):
            for step in detector.steps(canaries, control):
                for carrier in attack.carriers:
                    yield carry(carrier, step.text or "", canaries), render(attack.witness, canaries)
    for lot in ("forms", "more", "fallback", "unions"):
        for form in attack.options.get(lot, ()):
            yield texts.of(form["text"]), texts.of(form["witness"])


@pytest.mark.parametrize("attack", COMPUTED, ids=lambda attack: attack.id)
@settings(max_examples=25, deadline=None)
@given(job=st.text(max_size=20), attempt=st.text(max_size=10), example=st.text(max_size=60))
def test_no_rendering_yields_its_own_witness(attack: Attack, job: str, attempt: str, example: str) -> None:
    """Whatever the job, the attempt, and the valid value of the field."""
    canaries = Canaries(job, attack.id, attempt, example=example)

    found = [(sent, witness) for sent, witness in pairs(attack, canaries) if Closure([sent]).yields(witness)]

    assert found == []


def test_every_computed_attack_is_covered() -> None:
    """Of the 23 those with a witness, and both that run code."""
    assert len(ATTACKS) == 23
    assert {"PI-01", "PI-02", "PI-03", "PI-05", "PI-06", "RM-01", "RM-02", "RM-04"} <= {one.id for one in COMPUTED}
    assert {f"EN-0{number}" for number in range(1, 5)} <= {one.id for one in COMPUTED}


def test_the_categories_have_six_five_four_four_and_four() -> None:
    """The scheme's 23."""
    counts = [sum(one.category == name for one in ATTACKS.values()) for name in loader.CATEGORIES]

    assert counts == [6, 5, 4, 4, 4]
