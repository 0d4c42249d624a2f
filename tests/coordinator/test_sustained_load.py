"""Who is put under a sustained load, and what becomes of the score of who is not."""

from __future__ import annotations

import msgspec
import pytest

from coordinator.plan import SUSTAINED, Plan, Planner
from coordinator.policy import Policy
from coordinator.score import performance
from coordinator.tally import tally
from payloads import loader
from tests.coordinator import evidence
from tests.coordinator.evidence import judged, series
from tests.coordinator.skills import skill, text
from workers.wire.job import SustainedJob
from workers.wire.result import Outcome
from workers.wire.skill import Access


def plan(rules: Policy, limit: float | None) -> Plan:
    tool = skill(text(), access=Access(adapter="http", endpoint="http://127.0.0.1:1/"), max_requests_per_second=limit)
    found = Planner(run_id="r", policy=rules, corpus=loader.load()).plan(tool)
    assert found is not None
    return found


def loads(planned: Plan) -> list[SustainedJob]:
    return [job for stage in planned.stages for job in stage.jobs.values() if isinstance(job, SustainedJob)]


@pytest.mark.parametrize("above", [None, 0.0, 5.0])
def test_a_host_that_allows_the_rate_is_loaded(rules: Policy, above: float | None) -> None:
    """The load has the policy's rate and length, and takes up its share of the host's cap."""
    load = rules.performance.sustained
    planned = plan(rules, None if above is None else load.rate_per_s + above)

    [job] = loads(planned)

    assert (job.rate_per_s, job.duration_s, job.max_in_flight) == (load.rate_per_s, load.duration_s, load.max_in_flight)
    assert job.max_in_flight <= rules.limits.host_in_flight
    assert [stage.cost for stage in planned.stages if job.id in stage.jobs] == [job.max_in_flight]


def test_a_host_that_allows_less_is_spared(rules: Policy) -> None:
    """No load is sent to a skill whose publisher allows a lower rate, and the plan says why."""
    planned = plan(rules, rules.performance.sustained.rate_per_s - 1)

    [spared] = [one for one in planned.planned if one.probe == SUSTAINED]

    assert loads(planned) == []
    assert "more than the 9 that the publisher allows" in spared.misfit


def test_who_is_spared_is_judged_by_the_rest(rules: Policy) -> None:
    """Without a load there is no gap: full coverage, a score of speed and consistency, and a finding that says why."""
    spared = msgspec.structs.replace(evidence.SUSTAINED, misfit="the publisher allows less")
    counted = tally(
        [evidence.QUIET, spared], {"quiet": judged(evidence.QUIET, Outcome.PASS, 1.0, samples=series([900.0] * 20))}
    )

    found = performance(counted.performance, rules.performance, 30_000)

    assert found.coverage == 1.0
    assert found.value is not None
    assert found.ceiling == found.value < 100
    assert [(one.probe, one.outcome) for one in counted.findings][1] == (SUSTAINED, Outcome.NOT_APPLICABLE)


def test_a_load_that_was_lost_is_a_gap(rules: Policy) -> None:
    """Where the load's result never came the coverage falls, and the ceiling is what it could have been."""
    counted = tally(
        [evidence.QUIET, evidence.SUSTAINED],
        {"quiet": judged(evidence.QUIET, Outcome.PASS, 1.0, samples=series([900.0] * 20))},
    )

    found = performance(counted.performance, rules.performance, 30_000)

    assert found.value is not None
    assert (found.coverage, found.ceiling > found.value) == (0.5, True)
