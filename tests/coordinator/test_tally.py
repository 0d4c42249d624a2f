from __future__ import annotations

import random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from coordinator.policy import load
from coordinator.score import score
from coordinator.tally import Planned, Tally, keep, tally
from tests.coordinator.evidence import QUIET, SUSTAINED, attack, judged, series, task, unjudged
from workers.wire.job import Pillar
from workers.wire.result import Exchange, Outcome, Result

PLANNED = [
    task("a"),
    task("b", weight=3.0),
    task("c", group="bench"),
    attack("PI-01"),
    attack("DX-01"),
    QUIET,
    SUSTAINED,
]


def any_result(planned: Planned) -> st.SearchStrategy[Result]:
    ours = st.just(unjudged(planned))
    if planned.pillar is Pillar.FUNCTIONAL:
        scores = st.floats(0, 1).map(lambda value: judged(planned, Outcome.PARTIAL, value))
        return st.one_of(ours, scores)
    if planned.pillar is Pillar.SECURITY:
        outcomes = st.sampled_from(
            [Outcome.EXPLOITED, Outcome.SUSPECT, Outcome.RESISTED, Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE]
        )
        return st.one_of(ours, outcomes.map(lambda outcome: judged(planned, outcome)))
    samples = st.lists(st.floats(0.1, 1000), max_size=20)
    return st.one_of(
        ours, samples.map(lambda found: judged(planned, Outcome.PASS, 1.0, samples=series(found, planned=20)))
    )


deliveries = st.tuples(*(any_result(planned) for planned in PLANNED)).flatmap(
    lambda first: st.tuples(st.just(first), st.lists(st.sampled_from(first)), st.integers())
)


def collected(arriving: list[Result]) -> dict[str, Result]:
    known: dict[str, Result] = {}
    for result in arriving:
        known[result.job_id] = keep(known.get(result.job_id), result)
    return known


@given(deliveries)
def test_order_and_redelivery_change_nothing(drawn: tuple[tuple[Result, ...], list[Result], int]) -> None:
    """The same results, in any order and delivered any number of times, give the same tally and the same scores."""
    first, again, seed = drawn
    shuffled = [*first, *again]
    random.Random(seed).shuffle(shuffled)
    rules = load()

    one, other = tally(PLANNED, collected(list(first))), tally(PLANNED, collected(shuffled))

    assert one == other
    assert score(one, {}, rules, max_latency_ms=30_000) == score(other, {}, rules, max_latency_ms=30_000)


def test_a_verdict_replaces_our_failure() -> None:
    """Judged replaces Unjudged, and nothing replaces Judged."""
    planned = task("a")
    verdict, other, failure = judged(planned, Outcome.PASS, 1.0), judged(planned, Outcome.FAIL, 0.0), unjudged(planned)

    assert keep(failure, verdict) is verdict
    assert keep(verdict, failure) is verdict
    assert keep(verdict, other) is verdict


def test_a_job_that_never_came_back_is_unjudged() -> None:
    """A missing result is a finding of its own and leaves the mean."""
    counted = tally([task("a"), task("b")], {"a": judged(task("a"), Outcome.PASS, 1.0)})

    assert counted.unjudged == ("b",)
    assert counted.findings[1].outcome is Outcome.UNJUDGED
    assert (counted.groups[0].planned, counted.groups[0].judged, counted.groups[0].points) == (2, 1, 1)


def test_results_that_nobody_planned_are_ignored() -> None:
    """A stray result adds no evidence."""
    stray = judged(task("stray"), Outcome.PASS, 1.0)

    counted = tally([task("a")], {"stray": stray})

    assert [finding.probe for finding in counted.findings] == ["a"]
    assert counted.groups[0].judged == 0


def test_not_applicable_leaves_the_count_and_inconclusive_does_not() -> None:
    """A probe that no input can carry is neither evidence nor a gap; one that stayed open is a gap."""
    planned = [attack("PI-01"), attack("PI-02"), attack("EN-01")]
    outcomes = {"PI-01": Outcome.NOT_APPLICABLE, "PI-02": Outcome.INCONCLUSIVE, "EN-01": Outcome.RESISTED}

    counted = tally(planned, {one.job_id: judged(one, outcomes[one.probe]) for one in planned}).security

    assert (counted.planned, counted.applicable, len(counted.decided), len(counted.undecided)) == (3, 2, 1, 1)


def runs_of(name: str, outcomes: list[Outcome | None], *, k: int | None = None, answers: int = 1) -> Tally:
    """The tally of one task that was run once for each of *outcomes*; None: not judged."""
    planned = [
        Planned(job_id=f"{name}{n}", pillar=Pillar.FUNCTIONAL, probe=name, group="g", k=k) for n in range(len(outcomes))
    ]
    results: dict[str, Result] = {}
    for number, (one, outcome) in enumerate(zip(planned, outcomes, strict=True)):
        if outcome is not None:
            found = judged(one, outcome, 1.0 if outcome is Outcome.PASS else 0.0)
            said = Exchange(step="call", status=200, body=str(number % answers), elapsed_ms=number)
            results[one.job_id] = msgspec.structs.replace(
                found, verdict=msgspec.structs.replace(found.verdict, exchanges=(said,))
            )
    return tally(planned, results)


PASSED, FAILED = Outcome.PASS, Outcome.FAIL


def test_repeats_make_one_finding_with_their_mean() -> None:
    """A task that passed three times in four is worth 0.75, and is called flaky."""
    counted = runs_of("t", [PASSED, FAILED, PASSED, PASSED])

    (finding,) = counted.findings
    assert (finding.outcome, finding.score) == (Outcome.PARTIAL, 0.75)
    assert finding.evidence.startswith("flaky: 3 of 4 runs passed")
    assert (counted.groups[0].planned, counted.groups[0].judged, counted.groups[0].points) == (1, 1, 0.75)


def test_always_wrong_is_zero_and_always_right_is_one() -> None:
    """However often it was asked."""
    wrong, right = runs_of("t", [FAILED] * 3), runs_of("t", [PASSED] * 3)

    assert (wrong.findings[0].outcome, wrong.findings[0].score) == (Outcome.FAIL, 0.0)
    assert (right.findings[0].outcome, right.findings[0].score) == (Outcome.PASS, 1.0)


def test_different_answers_are_counted() -> None:
    """Consistency is told, whether or not each answer was right."""
    counted = runs_of("t", [PASSED] * 4, answers=2)

    assert counted.repeated[0].answers == 2
    assert "2 different answers" in counted.findings[0].evidence


def test_pass_at_k_takes_the_place_of_the_mean() -> None:
    """One pass in four runs is 0.5 for k = 2; enough passes are a pass, flaky or not."""
    one, many = runs_of("t", [PASSED, FAILED, FAILED, FAILED], k=2), runs_of("t", [PASSED, PASSED, PASSED, FAILED], k=2)

    assert (one.findings[0].outcome, one.findings[0].score) == (Outcome.PARTIAL, 0.5)
    assert (many.findings[0].outcome, many.findings[0].score) == (Outcome.PASS, 1.0)
    assert many.findings[0].evidence.startswith("flaky")


def test_too_few_judged_runs_are_no_estimate() -> None:
    """With fewer runs than k nothing is known: not zero, and not a hundred."""
    counted = runs_of("t", [PASSED, None, None], k=2)

    assert counted.findings[0].score is None
    assert (counted.groups[0].planned, counted.groups[0].judged) == (1, 0)


def test_runs_that_were_not_judged_lower_the_coverage() -> None:
    """Half of the runs are half of the evidence, and what they say counts in full."""
    counted = runs_of("t", [PASSED, None])

    assert (counted.groups[0].judged, counted.groups[0].points) == (0.5, 0.5)
    assert "1 unjudged" in counted.findings[0].evidence


def test_what_does_not_apply_leaves_the_count() -> None:
    """A task that could not be asked, or whose verdict is that it does not apply, is a finding and no gap."""
    misfit = msgspec.structs.replace(task("a", group="bench"), misfit="the skill declares no input 'q'")
    verdict = task("b", group="bench")

    counted = tally([misfit, verdict], {"b": judged(verdict, Outcome.NOT_APPLICABLE)})

    assert counted.groups == ()
    assert counted.unjudged == ()
    assert [one.outcome for one in counted.findings] == [Outcome.NOT_APPLICABLE] * 2
    assert counted.findings[0].evidence == "the skill declares no input 'q'"
