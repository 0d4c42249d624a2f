from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from coordinator.policy import load
from coordinator.score import score
from coordinator.tally import Planned, keep, tally
from tests.coordinator.evidence import QUIET, SUSTAINED, attack, judged, series, task, unjudged
from workers.wire.job import Pillar
from workers.wire.result import Outcome, Result

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
