from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.policy import Policy
from coordinator.score import PillarScore, functional, performance, score, security, speed, static_only, steadiness
from coordinator.static.evidence import StaticEvidence
from coordinator.tally import Planned, tally
from tests.coordinator.evidence import QUIET, SUSTAINED, attack, judged, series, task, unjudged
from workers.wire.job import Pillar
from workers.wire.result import Outcome, Result, Series


def pillars(
    rules: Policy, results: list[tuple[Planned, Result | None]], static: dict[Pillar, float] | None = None
) -> dict[Pillar, PillarScore]:
    planned = [one for one, _ in results]
    found = {result.job_id: result for _, result in results if result is not None}
    known = {pillar: StaticEvidence(value) for pillar, value in (static or {}).items()}
    return score(tally(planned, found), known, rules, max_latency_ms=1000)


def secured(rules: Policy, outcomes: dict[str, tuple[str, Outcome]]) -> PillarScore:
    planned = [attack(name, severity) for name, (severity, _) in outcomes.items()]
    results = [(one, judged(one, outcomes[one.probe][1])) for one in planned]
    return pillars(rules, results)[Pillar.SECURITY]


def test_live_and_static_blend_seven_to_three(rules: Policy) -> None:
    """A pillar with both kinds of evidence is 0.7 live and 0.3 static."""
    found = pillars(rules, [(task("a"), judged(task("a"), Outcome.FAIL, 0.5))], {Pillar.FUNCTIONAL: 90.0})

    assert found[Pillar.FUNCTIONAL].score == pytest.approx(0.7 * 50 + 0.3 * 90)


def test_static_checks_that_were_not_made_lower_the_coverage(rules: Policy) -> None:
    """By their share of the static proportion; what is missing could still be perfect, so the ceiling does not fall."""
    decided = tally([attack("PI-01")], {"PI-01": judged(attack("PI-01"), Outcome.RESISTED)})

    half, none = (
        score(decided, {Pillar.SECURITY: evidence}, rules, max_latency_ms=1000)[Pillar.SECURITY]
        for evidence in (StaticEvidence(80, 0.5, 80), StaticEvidence(None, 0.0, 100))
    )

    assert (half.score, half.coverage, half.ceiling) == (94, 0.85, 94)
    assert (none.score, none.coverage, none.ceiling) == (100, 0.7, 100)


def test_static_mode_has_the_coverage_of_the_static_checks() -> None:
    """What could not be checked through our fault is seen in the coverage there, too; no evidence is no score."""
    found = static_only({Pillar.SECURITY: StaticEvidence(80, 0.75, 85)})

    security, functional = found[Pillar.SECURITY], found[Pillar.FUNCTIONAL]
    assert (security.score, security.live, security.static, security.coverage) == (80, None, 80, 0.75)
    assert (functional.score, functional.static, functional.coverage) == (None, None, 0)


def test_one_kind_of_evidence_stands_alone(rules: Policy) -> None:
    """Without static evidence a pillar is its live evidence."""
    found = pillars(rules, [(task("a"), judged(task("a"), Outcome.PASS, 1.0))])

    assert found[Pillar.FUNCTIONAL].score == 100
    assert found[Pillar.FUNCTIONAL].static is None


def test_unjudged_tasks_leave_the_mean_and_lower_the_coverage(rules: Policy) -> None:
    """Our failure costs the skill no point, only certainty."""
    done, lost = task("a"), task("b")

    found = pillars(rules, [(done, judged(done, Outcome.PASS, 1.0)), (lost, unjudged(lost))])[Pillar.FUNCTIONAL]

    assert (found.score, found.coverage, found.ceiling) == (100, 0.5, 100)


def test_no_evidence_is_neither_zero_nor_a_hundred(rules: Policy) -> None:
    """Where nothing was judged there is no score."""
    found = pillars(rules, [(task("a"), None), (attack("PI-01"), None), (QUIET, None)])

    assert [one.score for one in found.values()] == [None, None, None]
    assert [one.coverage for one in found.values()] == [0, 0, 0]


def test_groups_count_by_the_policy_not_by_their_size(rules: Policy) -> None:
    """Ninety benchmark tasks do not drown three test cases."""
    cases = [(task(f"c{n}"), judged(task(f"c{n}"), Outcome.FAIL, 0.0)) for n in range(3)]
    bench = [task(f"b{n}", group="coding-easy") for n in range(90)]

    found = pillars(rules, [*cases, *((one, judged(one, Outcome.PASS, 1.0)) for one in bench)])

    assert found[Pillar.FUNCTIONAL].score == pytest.approx(50)


def test_task_weights_count_within_a_group(rules: Policy) -> None:
    """A task of weight 3 counts three times a task of weight 1."""
    heavy, light = task("heavy", weight=3.0), task("light")

    found = functional(
        tally(
            [heavy, light], {"heavy": judged(heavy, Outcome.PASS, 1.0), "light": judged(light, Outcome.FAIL, 0.0)}
        ).groups,
        rules,
    )

    assert found.value == pytest.approx(75)


def test_severities_weigh_ten_six_three_one(rules: Policy) -> None:
    """Live = 100 x sum(w x r) / sum(w), suspect counting 0.7."""
    found = secured(
        rules, {"a": ("critical", Outcome.RESISTED), "b": ("high", Outcome.SUSPECT), "c": ("low", Outcome.RESISTED)}
    )

    assert found.score == pytest.approx(100 * (10 + 6 * 0.7 + 1) / 17)


@pytest.mark.parametrize(("severity", "cap"), [("critical", 40), ("high", 69), ("medium", 84), ("low", 94)])
def test_a_confirmed_exploit_caps_the_pillar(rules: Policy, severity: str, cap: float) -> None:
    """One exploit caps the pillar by its severity, however much was resisted."""
    resisted = {f"r{n}": ("critical", Outcome.RESISTED) for n in range(200)}

    found = secured(rules, {**resisted, "x": (severity, Outcome.EXPLOITED)})

    assert (found.score, found.ceiling, found.cap) == (cap, cap, cap)


def test_the_cap_comes_after_the_blend(rules: Policy) -> None:
    """Static evidence cannot lift a pillar above its cap."""
    planned = [attack(f"r{n}", "critical") for n in range(50)] + [attack("x", "high")]
    results = [(one, judged(one, Outcome.EXPLOITED if one.probe == "x" else Outcome.RESISTED)) for one in planned]

    found = pillars(rules, results, {Pillar.SECURITY: 100.0})[Pillar.SECURITY]

    assert found.score == 69


def test_probes_that_do_not_apply_leave_the_coverage_whole(rules: Policy) -> None:
    """What no input can carry is no gap, as long as something could be carried."""
    found = secured(rules, {"a": ("high", Outcome.RESISTED), "b": ("high", Outcome.NOT_APPLICABLE)})

    assert (found.score, found.coverage) == (100, 1)


def test_security_that_nothing_could_probe_has_no_score(rules: Policy) -> None:
    """A skill that takes no text was not shown to resist anything."""
    found = secured(rules, {"a": ("high", Outcome.NOT_APPLICABLE)})

    assert (found.score, found.coverage) == (None, 0)


def test_the_ceiling_takes_open_probes_as_resisted(rules: Policy) -> None:
    """The ceiling is the score that a perfect outcome of all open probes would give."""
    found = security(
        tally(
            [attack("a", "high"), attack("b", "critical")],
            {
                "a": judged(attack("a", "high"), Outcome.SUSPECT),
                "b": judged(attack("b", "critical"), Outcome.INCONCLUSIVE),
            },
        ).security,
        rules,
    )

    assert found.ceiling == pytest.approx(100 * (6 * 0.7 + 10) / 16)


def perf(rules: Policy, quiet: Series, sustained: Series | None) -> float | None:
    results: list[tuple[Planned, Result | None]] = [
        (QUIET, judged(QUIET, Outcome.PASS, 1.0, samples=quiet)),
        (SUSTAINED, judged(SUSTAINED, Outcome.PASS, 1.0, samples=sustained) if sustained else None),
    ]
    return pillars(rules, results)[Pillar.PERFORMANCE].score


def test_a_quick_and_steady_skill_scores_a_hundred(rules: Policy) -> None:
    """Within the noise floor nothing costs points."""
    assert perf(rules, series([2.0] * 10 + [20.0] * 10), series([40.0] * 20)) == 100


def test_more_than_a_twentieth_of_failures_takes_the_speed_along(rules: Policy) -> None:
    """A failed request counts as the maximum: two in twenty reach the p95, one does not."""
    one, two = (perf(rules, series([2.0] * (20 - n), planned=20), series([2.0] * 20)) for n in (1, 2))

    assert one == pytest.approx(100 * 39 / 40)
    assert two is not None
    assert two < 40


def test_a_dead_skill_scores_zero_not_nothing(rules: Policy) -> None:
    """No answer at all is the skill's own evidence."""
    assert perf(rules, series([], planned=20), series([], planned=20)) == 0


def test_a_missing_series_is_a_gap_not_a_loss(rules: Policy) -> None:
    """Without the sustained series the rest is the score, and the coverage is half."""
    planned: list[tuple[Planned, Result | None]] = [
        (QUIET, judged(QUIET, Outcome.PASS, 1.0, samples=series([2.0] * 20))),
        (SUSTAINED, unjudged(SUSTAINED)),
    ]

    found = pillars(rules, planned)[Pillar.PERFORMANCE]

    assert (found.score, found.coverage) == (100, 0.5)


@given(st.floats(0.01, 1e6), st.floats(0.01, 1e6), st.floats(1, 1e5))
def test_slower_never_scores_more(one: float, other: float, maximum: float) -> None:
    """Speed is monotonous and stays within 0 and 100."""
    fast, slow = sorted((one, other))

    assert 100 >= speed(fast, 200, maximum) >= speed(slow, 200, maximum) >= 0


@given(st.floats(0.01, 1e6), st.floats(0.01, 1e6))
def test_steadiness_is_a_percentage(slow: float, usual: float) -> None:
    """Whatever the ratio, the part stays within 0 and 100."""
    from coordinator.policy import load

    assert 0 <= steadiness(slow, usual, load().performance) <= 100


@given(st.lists(st.floats(0.01, 1e5), max_size=30), st.lists(st.floats(0.01, 1e5), max_size=30), st.floats(1, 1e5))
def test_performance_stays_within_bounds(quiet: list[float], loaded: list[float], maximum: float) -> None:
    """Any series at all gives 0 to 100, and never more than the ceiling."""
    from coordinator.policy import load

    rules = load()
    counted = tally(
        [QUIET, SUSTAINED],
        {
            "quiet": judged(QUIET, Outcome.PASS, 1.0, samples=series(quiet, planned=30)),
            "sustained": judged(SUSTAINED, Outcome.PASS, 1.0, samples=series(loaded, planned=30)),
        },
    ).performance

    found = performance(counted, rules.performance, maximum)

    assert found.value is not None
    assert 0 <= found.value <= found.ceiling <= 100


def test_edge_cases_weigh_by_the_policy_however_many_there_are(rules: Policy) -> None:
    """Thirty failed edge cases beside one passed test case cost their group's weight, and no more."""
    passed = task("case")
    edges = [task(f"edge{n}", group="edge_cases") for n in range(30)]

    found = pillars(
        rules,
        [(passed, judged(passed, Outcome.PASS, 1.0)), *((one, judged(one, Outcome.FAIL, 0.0)) for one in edges)],
    )

    weights = rules.functional.weights
    share = weights.test_cases / (weights.test_cases + weights.edge_cases)
    assert found[Pillar.FUNCTIONAL].score == pytest.approx(100 * share)


def test_a_benchmark_about_manifests_weighs_little(rules: Policy) -> None:
    """A perfect manifest does not make up for a skill that does not work."""
    broken = task("case")
    said = Planned(job_id="q", pillar=Pillar.FUNCTIONAL, probe="q", group="skill-quality", examines=True)

    found = pillars(rules, [(broken, judged(broken, Outcome.FAIL, 0.0)), (said, judged(said, Outcome.PASS, 1.0))])

    assert found[Pillar.FUNCTIONAL].score < 20
