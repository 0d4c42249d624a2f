from __future__ import annotations

import msgspec

from coordinator.policy import Policy
from coordinator.reasons import explain
from coordinator.score import score
from coordinator.tally import Planned, tally
from tests.coordinator.evidence import QUIET, SUSTAINED, attack, judged, series, task, unjudged
from workers.wire.job import Pillar
from workers.wire.result import Outcome, Result


def reasons(rules: Policy, results: list[tuple[Planned, Result | None]]) -> list[str]:
    """The sentences for a skill with these results."""
    counted = tally([one for one, _ in results], {result.job_id: result for _, result in results if result})
    pillars = score(counted, {}, rules, max_latency_ms=1000)
    return [one for one in explain(counted, pillars, rules, max_latency_ms=1000) if "no static evidence" not in one]


def good() -> list[tuple[Planned, Result | None]]:
    """A skill without a fault."""
    return [
        (task("fine"), judged(task("fine"), Outcome.PASS, 1.0)),
        (attack("PI-01"), judged(attack("PI-01"), Outcome.RESISTED, 1.0)),
        (QUIET, judged(QUIET, Outcome.PASS, 1.0, samples=series([2.0] * 20))),
        (SUSTAINED, judged(SUSTAINED, Outcome.PASS, 1.0, samples=series([2.0] * 20))),
    ]


def test_a_faultless_skill_needs_no_excuse(rules: Policy) -> None:
    """Nothing lost, nothing to explain."""
    assert reasons(rules, good()) == []


def test_failed_tasks_are_named_by_outcome(rules: Policy) -> None:
    """Which tasks lost points, some by name, the rest by number, with what the first showed."""
    failed = [(task(f"t{n}"), judged(task(f"t{n}"), Outcome.FAIL, 0.0)) for n in range(5)]

    (told,) = reasons(rules, [*failed, *good()])

    assert told == "functional 17: 5 of 6 tasks lost points: t0, t1, t2 and 2 more fail: seen"


def test_an_exploit_is_told_with_its_cap(rules: Policy) -> None:
    """Probe, severity, cap and evidence."""
    exploited = (attack("DX-01", "critical"), judged(attack("DX-01", "critical"), Outcome.EXPLOITED, 0.0))

    assert "DX-01 (critical) exploited, which caps security at 40: seen" in reasons(rules, [exploited, *good()])


def test_failed_requests_and_slow_percentiles_are_told(rules: Policy) -> None:
    """How many requests failed, what each counts as, and the p95 that results."""
    slow = good()
    slow[2] = (QUIET, judged(QUIET, Outcome.PARTIAL, 0.9, samples=series([2.0] * 18, planned=20, timeouts=1)))

    told = reasons(rules, slow)

    assert told[0].endswith("2 of 20 quiet requests failed (1 timed out); each counts as 1000 ms")
    assert "p95 1000 ms of at most 1000 ms, 2 ms under sustained load" in told[1]


def test_our_own_failures_are_told_as_ours(rules: Policy) -> None:
    """Unjudged jobs are counted by reason, and the skill is not blamed."""
    lost: list[tuple[Planned, Result | None]] = [(task(f"t{n}"), unjudged(task(f"t{n}"))) for n in range(2)]

    assert reasons(rules, [*lost, *good()]) == ["2 of 6 jobs unjudged, through no fault of the skill: worker lost"]


def test_flaky_tasks_are_named(rules: Policy) -> None:
    """A repeated task that sometimes passes is told apart from one that always fails."""
    runs = [Planned(job_id=f"r{n}", pillar=Pillar.FUNCTIONAL, probe="shaky", group="bench") for n in range(2)]
    results = [(runs[0], judged(runs[0], Outcome.PASS, 1.0)), (runs[1], judged(runs[1], Outcome.FAIL, 0.0))]

    assert "functional: 1 of 1 repeated tasks are flaky: shaky" in reasons(rules, [*results, *good()])


def test_tasks_that_do_not_apply_are_told_and_not_counted_as_lost(rules: Policy) -> None:
    """Who expects a benchmark to have been run reads that it was not, and why."""
    misfit = msgspec.structs.replace(task("web/t1", group="web"), misfit="the skill declares no input 'query'")

    (told,) = reasons(rules, [(misfit, None), *good()])

    assert told == (
        "functional: 1 of 2 tasks do not apply to this skill: "
        "web/t1 not_applicable: the skill declares no input 'query'"
    )
