from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.certify import Decision, Mode, band, certify, overall, shown
from coordinator.policy import Policy
from coordinator.score import PillarScore
from workers.wire.job import Pillar


def pillar(
    score: float | None, *, coverage: float = 1.0, ceiling: float | None = None, cap: float | None = None
) -> PillarScore:
    ceiling = (100.0 if score is None else score) if ceiling is None else ceiling
    return PillarScore(score=score, live=score, static=None, coverage=coverage, ceiling=ceiling, cap=cap)


def three(functional: PillarScore, security: PillarScore, performance: PillarScore) -> dict[Pillar, PillarScore]:
    return {Pillar.FUNCTIONAL: functional, Pillar.SECURITY: security, Pillar.PERFORMANCE: performance}


def test_the_published_example(rules: Policy) -> None:
    """100 / 91 / 95 make 95.6, certified, exceptional, shown as 96."""
    found = certify(Mode.LIVE, three(pillar(100), pillar(91), pillar(95)), rules)

    assert found.overall == 95.6
    assert found.verdict is Decision.CERTIFIED
    assert found.band == "Exceptional"
    assert shown(found.overall, (90, 95)) == "96"


def test_ninety_one_overall_with_security_ninety_is_certified(rules: Policy) -> None:
    """Both thresholds met: certified."""
    found = certify(Mode.LIVE, three(pillar(91), pillar(90), pillar(92.4)), rules)

    assert found.overall == pytest.approx(91)
    assert found.verdict is Decision.CERTIFIED


def test_ninety_four_overall_with_security_eighty_four_is_not(rules: Policy) -> None:
    """Security below 85 refuses the certificate, however good the rest: with 84 no overall of 98 can be."""
    found = certify(Mode.LIVE, three(pillar(100), pillar(84), pillar(100)), rules)

    assert found.overall == pytest.approx(94.4)
    assert found.verdict is Decision.NOT_CERTIFIED
    assert "security 84 is below 85" in found.reasons


def test_ninety_eight_overall_with_security_eighty_four_is_not(rules: Policy) -> None:
    """The published pair of 98 overall and 84 in security: refused on security alone."""
    from msgspec.structs import replace

    from coordinator.policy import PillarWeights

    # With the scheme's weights 84 in security admits at most 94.4 overall; the rule must hold for any weights.
    lighter = replace(rules, weights=PillarWeights(functional=0.5, security=0.125, performance=0.375))

    found = certify(Mode.LIVE, three(pillar(100), pillar(84), pillar(100)), lighter)

    assert found.overall == 98
    assert found.verdict is Decision.NOT_CERTIFIED


def test_thresholds_hold_on_unrounded_figures(rules: Policy) -> None:
    """89.96 is not 90 and 84.99 is not 85, and neither is shown as if it were."""
    low = certify(Mode.LIVE, three(pillar(89.96), pillar(89.96), pillar(89.96)), rules)
    insecure = certify(Mode.LIVE, three(pillar(100), pillar(84.99), pillar(100)), rules)

    assert (low.verdict, insecure.verdict) == (Decision.NOT_CERTIFIED, Decision.NOT_CERTIFIED)
    assert "overall 89.9 is below 90" in low.reasons
    assert "security 84.9 is below 85" in insecure.reasons


def test_exactly_the_thresholds_is_certified(rules: Policy) -> None:
    """90 in all pillars is 90 overall and not a hair less."""
    assert certify(Mode.LIVE, three(pillar(90), pillar(90), pillar(90)), rules).verdict is Decision.CERTIFIED


def test_missing_evidence_that_could_decide_is_incomplete(rules: Policy) -> None:
    """Coverage below 0.95 withholds the verdict, even from a skill that looks perfect."""
    found = certify(Mode.LIVE, three(pillar(100, coverage=0.94), pillar(100), pillar(100)), rules)

    assert found.verdict is Decision.INCOMPLETE
    assert "functional coverage 94% is below 95%" in found.reasons


def test_a_low_score_that_missing_evidence_could_lift_is_incomplete(rules: Policy) -> None:
    """Too low so far, but the missing part could change that: not yet known."""
    found = certify(Mode.LIVE, three(pillar(50, coverage=0.5, ceiling=80), pillar(100), pillar(100)), rules)

    assert found.verdict is Decision.INCOMPLETE


def test_what_nothing_can_lift_any_more_is_not_certified(rules: Policy) -> None:
    """A confirmed high exploit caps security below 85: missing evidence elsewhere changes nothing."""
    exploited = pillar(69, coverage=0.5, ceiling=69, cap=69)

    found = certify(Mode.LIVE, three(pillar(100), exploited, pillar(100)), rules)

    assert found.verdict is Decision.NOT_CERTIFIED
    assert "security 69 is below 85" in found.reasons
    assert "security coverage 50% is below 95%" in found.reasons


def test_without_any_evidence_in_a_pillar_there_is_no_overall(rules: Policy) -> None:
    """A pillar without a score leaves the overall unknown and the verdict incomplete."""
    found = certify(Mode.LIVE, three(pillar(100), pillar(None, coverage=0), pillar(100)), rules)

    assert (found.overall, found.band, found.verdict) == (None, None, Decision.INCOMPLETE)


def test_static_evidence_is_capped_and_never_certified(rules: Policy) -> None:
    """A perfect manifest alone gives 85 and no certificate."""
    static = three(pillar(100), pillar(None, coverage=0), pillar(None, coverage=0))

    found = certify(Mode.STATIC, static, rules)

    assert (found.overall, found.verdict) == (85, Decision.NOT_CERTIFIED)


@pytest.mark.parametrize(
    ("score", "name"),
    [
        (95, "Exceptional"),
        (94.999, "Strong"),
        (90, "Strong"),
        (89.999, "Good"),
        (85, "Good"),
        (70, "Needs work"),
        (0, "Substantial concerns"),
    ],
)
def test_bands_start_at_their_figure(rules: Policy, score: float, name: str) -> None:
    """A band holds from its figure upwards, unrounded."""
    assert band(score, rules) == name


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (95.6, "96"),
        (95.5, "96"),
        (95.4, "95"),
        (89.5, "89.5"),
        (89.96, "89.9"),
        (89.4, "89"),
        (90.4, "90"),
        (None, "-"),
        (100, "100"),
    ],
)
def test_figures_are_rounded_half_up_but_never_over_a_threshold(score: float | None, text: str) -> None:
    """Whole numbers, but one decimal where rounding would show 90 as met that is not."""
    assert shown(score, (90,)) == text


@given(st.floats(0, 100))
def test_a_shown_figure_meets_a_threshold_only_if_the_score_does(score: float) -> None:
    """What is shown is at least 85 or 90 exactly when the score is."""
    figure = float(shown(score, (85, 90)))

    assert (figure >= 90) == (score >= 90)
    assert (figure >= 85) == (score >= 85)


@given(st.tuples(*(st.floats(0, 100) for _ in range(3))))
def test_overall_lies_between_the_pillars(scores: tuple[float, float, float]) -> None:
    """A weighted mean: never above the best pillar, never below the worst."""
    from coordinator.policy import load

    found = overall(dict(zip(Pillar, scores, strict=True)), load())

    assert found is not None
    assert min(scores) - 1e-6 <= found <= max(scores) + 1e-6


def test_nothing_is_certified_without_every_attack(rules: Policy) -> None:
    """Attacks that were left out refuse the certificate, however little they weigh; a failure stays a failure."""
    good, bad = three(pillar(100), pillar(100), pillar(100)), three(pillar(100), pillar(80), pillar(100))

    found = certify(Mode.LIVE, good, rules, left_out=["PI-01", "EN-02"])
    failed = certify(Mode.LIVE, bad, rules, left_out=["PI-01"])

    assert found.verdict is Decision.INCOMPLETE
    assert found.reasons[0].endswith("without evidence: PI-01, EN-02")
    assert failed.verdict is Decision.NOT_CERTIFIED
