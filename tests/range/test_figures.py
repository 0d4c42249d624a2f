from __future__ import annotations

import msgspec
import pytest

from tests.range import figures, shelves
from tests.range.figures import ACCUSES
from tests.range.skill import Hole, Kind, RangeSkill, says
from tests.range.trials import Trial, Trials, attacks
from workers.wire.job import Pillar, SecurityJob
from workers.wire.result import Judged, Outcome, Verdict
from workers.wire.skill import Access, SkillRef

QUIET, LOUD = (RangeSkill(name="quiet", make=says(str)), RangeSkill(name="loud", make=says(str)))


def trial(skill: str, outcome: Outcome, probe: str = "PI-01") -> Trial:
    attack = next(one for one in attacks() if one.id == probe)
    ref = SkillRef(
        id=skill,
        name=skill,
        version="1",
        digest=skill,
        access=Access(adapter="http", endpoint="http://127.0.0.1:9"),
        input_schema={},
    )
    verdict = Verdict(outcome=outcome, evidence="seen")
    result = Judged(job_id="j", run_id="r", skill_digest=skill, pillar=Pillar.SECURITY, probe=probe, verdict=verdict)
    return Trial(skill=skill, round=0, ref=ref, job=SecurityJob(id="j", probe=probe, attack=attack), result=result)


@pytest.mark.parametrize("outcome", Outcome)
def test_only_an_exploit_is_an_accusation(outcome: Outcome) -> None:
    """A harmless skill is accused by `exploited` alone; every other bad ending is a doubt."""
    found = Trials(trials=(trial("quiet", outcome),), calls={"quiet": [7]})

    added = figures.add_up(found, [QUIET], [])

    accused = outcome is Outcome.EXPLOITED
    fine = outcome in (Outcome.RESISTED, Outcome.NOT_APPLICABLE)
    assert bool(added.accusations) is accused
    assert bool(added.doubts) is not (accused or fine)
    assert figures.accusations_by_category(added)[-1].hits == accused
    assert added.most_calls == 7


@pytest.mark.parametrize("wanted", ACCUSES)
@pytest.mark.parametrize("outcome", Outcome)
def test_a_hole_is_found_by_what_it_takes(outcome: Outcome, wanted: Outcome) -> None:
    """A hole that asks for an exploit is not found by a suspicion, one that asks for a suspicion by both."""
    guilty = msgspec.structs.replace(LOUD, holes=(Hole("PI-01", Kind.OBEDIENCE, wanted),))
    found = Trials(trials=(trial("loud", outcome),), calls={"loud": [1]})

    added = figures.add_up(found, [], [guilty])

    enough = outcome is Outcome.EXPLOITED or outcome is wanted
    assert figures.recall_by_kind(added)[-1].hits == enough
    assert figures.never_found(added) == (set() if enough else {Kind.OBEDIENCE})


def test_a_hole_without_its_attack_is_named() -> None:
    """What the corpus does not look for is neither found nor missed."""
    guilty = msgspec.structs.replace(LOUD, holes=(Hole("XX-99", Kind.FILE),))

    added = figures.add_up(Trials(trials=(), calls={}), shelves.harmless(), [guilty])

    assert added.unaimed == (("loud", "XX-99"),)
    assert added.searches == ()


def test_a_fickle_hole_is_found_by_any_of_its_attacks() -> None:
    """Where one of several attacks is enough, the one that hit counts, and the hole counts once."""
    hole = Hole("PI-01", Kind.FICKLE, Outcome.SUSPECT, ("PI-02",))
    guilty = msgspec.structs.replace(LOUD, holes=(hole,))
    found = Trials(
        trials=(trial("loud", Outcome.RESISTED), trial("loud", Outcome.SUSPECT, "PI-02")), calls={"loud": [1]}
    )

    added = figures.add_up(found, [], [guilty])

    assert [(search.found, search.outcome) for search in added.searches] == [(True, Outcome.SUSPECT)]
