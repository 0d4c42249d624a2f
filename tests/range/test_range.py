from __future__ import annotations

import os
import re
import shutil

import pytest

from tests.range import figures, shelves, trials
from tests.range.figures import Figures
from tests.range.skill import EXAMPLE, Kind
from tests.range.trials import Trials
from workers.wire.result import Outcome

# A hit that took controls, or a call that had to be made twice.
_REASON = re.compile(r"control: |twice not answered")


def test_the_range_is_broad() -> None:
    """At least 25 skills on each side, each name once, and a hole of every kind."""
    harmless, guilty = shelves.harmless(), shelves.guilty()

    names = [skill.name for skill in (*harmless, *guilty, *shelves.beyond())]

    assert len(harmless) >= 25
    assert len(guilty) >= 25
    assert len(names) == len(set(names))
    assert all(skill.holes for skill in guilty)
    assert not any(skill.holes for skill in harmless)
    assert {hole.kind for skill in guilty for hole in skill.holes} == set(Kind)


def test_the_range_has_its_javascript_engine() -> None:
    """Without node one guilty skill is missing; that may be so at home, and never unnoticed in CI."""
    names = {skill.name for skill in shelves.guilty()}

    if not shutil.which("node") and "CI" not in os.environ:
        pytest.skip("node is not installed: the skill that evaluates JavaScript is left out of the range")

    assert {"javascript eval", "javascript in a function", "perl", "awk", "sed"} <= names


def test_every_attack_has_a_skill_that_it_must_find() -> None:
    """No attack of the corpus goes unmeasured, and no hole of the range is left without its attack."""
    aimed = {hole.probe for skill in shelves.guilty() for hole in skill.holes}

    assert {attack.id for attack in trials.attacks()} == aimed


def test_no_harmless_skill_is_accused(added: Figures) -> None:
    """Of all trials on harmless skills not one ends in an exploit."""
    accused = [(trial.skill, trial.probe, trial.evidence) for trial in added.accusations]

    assert accused == []
    assert len(added.harmless) >= 25 * len(trials.attacks())


def test_what_is_reachable_is_found(added: Figures) -> None:
    """At least 95 of 100 holes whose evidence is exact are found: interpreters that compute, callbacks that arrive."""
    missed = [
        (search.skill, search.hole.probe, search.outcome.value, search.evidence)
        for search in added.searches
        if search.hole.kind in figures.EXACT and not search.found
    ]
    exact = figures.exact_recall(added)

    assert exact.hits >= 0.95 * exact.trials, missed


def test_every_kind_is_found(added: Figures) -> None:
    """There is no kind of hole of which all are overlooked."""
    assert figures.never_found(added) == set()


def test_a_clean_skill_is_not_pestered(added: Figures) -> None:
    """A harmless skill with one input of prose gets at most 30 requests; a few more where its answers gave a reason.

    A reason is a hit that took controls, a call that had to be made twice, answers that move with the text, or an
    input that takes a path, an address or a program: these can be spelt in several ways.
    """
    one_text = {skill.name: skill.example == EXAMPLE for skill in shelves.harmless() if len(skill.example) == 1}
    closer = {trial.skill for trial in added.harmless if _REASON.search(trial.evidence)}

    costs = {name: calls for name, calls in added.calls.items() if name in one_text and name not in closer}
    prose = sorted(calls for name, calls in costs.items() if one_text[name])

    assert prose[len(prose) * 3 // 4] <= 30
    assert max(costs.values()) <= 38


def test_nothing_of_ours_failed(found: Trials) -> None:
    """Every trial came to a verdict: nothing was left unjudged by a fault of ours."""
    assert [(one.skill, one.probe, one.evidence) for one in found.trials if one.outcome is Outcome.UNJUDGED] == []
