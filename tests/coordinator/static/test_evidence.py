from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.policy import Policy, load
from coordinator.static.checks import checks
from coordinator.static.evidence import (
    SEVERITIES,
    Checked,
    Deduction,
    Inapplicable,
    StaticEvidence,
    Unchecked,
    diminishing,
    graded,
    unverified,
    weigh,
)

RULES: Policy = load()
STATIC = RULES.static
HOLE = graded("/x", "a hole", "rule", "high", STATIC)
NIT = graded("/x", "a nit", "rule", "low", STATIC)
SECURITY = ("dependencies", "source", "permissions", "data_handling")

FINDINGS = st.builds(
    graded,
    st.just("/x"),
    st.just("why"),
    st.sampled_from([f"rule/{number}" for number in range(100)]),
    st.sampled_from(SEVERITIES),
    st.just(STATIC),
)


def pillar(*checked: Checked | Unchecked | Inapplicable) -> StaticEvidence | None:
    return weigh(dict(zip(SECURITY, checked, strict=False)), STATIC)


def test_every_check_has_its_weight_in_the_policy() -> None:
    """A check without one could not be weighed, and a weight without a check would mean nothing."""
    assert set(checks()) == {field.name for field in msgspec.structs.fields(STATIC.weights)}


def test_pillar_is_the_weighted_mean_of_its_checks() -> None:
    """By the policy: dependencies 25, source 30, permissions 25, data handling 20."""
    lost = Checked((Deduction("/x", "why", 50),))

    assert pillar(Checked(), Checked(), Checked(), lost) == StaticEvidence(90, 1.0, 90)
    assert pillar(Checked(), Checked(), Checked()) == StaticEvidence(100, 1.0, 100)


def test_perfect_skill_without_source_has_70() -> None:
    """What nobody can verify earns nothing, and is no finding against the skill."""
    missing = unverified("/source_path", "no source", "source/missing", STATIC)

    assert pillar(Checked(), Checked((missing,)), Checked(), Checked()) == StaticEvidence(70, 1.0, 70)


def test_worst_finding_of_any_check_limits_the_pillar() -> None:
    """What the source shows outweighs how well the rest is declared."""
    assert pillar(Checked(), Checked((HOLE,)), Checked(), Checked()) == StaticEvidence(69, 1.0, 69)


def test_what_was_not_checked_is_neither_clean_nor_guilty() -> None:
    """It lowers the coverage by its weight; alone it leaves no score, which could still turn out perfect."""
    assert pillar(Unchecked("no database"), Checked(), Checked(), Checked()) == StaticEvidence(100, 0.75, 100)
    assert pillar(Unchecked("no database")) == StaticEvidence(None, 0.0, 100)
    half = Checked((Deduction("/x", "why", 50),), coverage=0.5)
    assert pillar(half) == StaticEvidence(50, 0.5, 75)


def test_what_does_not_apply_counts_nowhere() -> None:
    """A format without a place for something is neither better nor worse for it."""
    assert pillar(Inapplicable("none"), Checked((NIT,))) == StaticEvidence(94, 1.0, 94)
    assert pillar(Inapplicable("none")) is None


def test_each_repeat_takes_less() -> None:
    """By the policy half of the one before; another severity starts anew."""
    taken = diminishing([HOLE, NIT, NIT, NIT], STATIC)

    assert [one.points for one in taken] == [30, 3, 1.5, 0.75]


@given(st.lists(FINDINGS, max_size=200), st.sampled_from(SEVERITIES[1:]))
def test_any_number_of_lesser_findings_never_weighs_more_than_one_worse(found: list[Deduction], worse: str) -> None:
    """Whatever their rules: a hundred nits leave at least what one real hole leaves."""
    lesser = [one for one in found if SEVERITIES.index(one.severity or "") < SEVERITIES.index(worse)]
    hole = Checked(diminishing([graded("/x", "a hole", "hole", worse, STATIC)], STATIC))

    assert Checked(diminishing(lesser, STATIC)).score >= hole.score


@given(st.lists(FINDINGS, max_size=200), FINDINGS)
def test_a_further_finding_never_raises_a_score(found: list[Deduction], more: Deduction) -> None:
    """And whatever is found, the score stays between 0 and the lowest ceiling."""
    before = Checked(diminishing(found, STATIC))
    after = Checked(diminishing([*found, more], STATIC))

    assert 0 <= after.score <= before.score + 1e-9
    assert after.score <= more.ceiling


@given(st.lists(FINDINGS, max_size=60))
def test_told_points_add_up(found: list[Deduction]) -> None:
    """What is said to be lost is what is lost, unless the ceiling took more."""
    checked = Checked(diminishing(found, STATIC))

    left = 100 - sum(one.points for one in checked.deductions)
    assert checked.score == pytest.approx(min([left, *(one.ceiling for one in found)]), abs=1e-6)
