from __future__ import annotations

import pytest

from tests.skill import EchoSkill
from workers.wire import queues
from workers.wire.job import QuietJob, SustainedJob


def test_each_kind_of_job_has_its_queue(echo_skill: EchoSkill) -> None:
    """Functional jobs travel on their own queue, both kinds of latency jobs on the latency queue."""
    functional = echo_skill.parcel("r", ["a"])
    latency = type(functional)(
        id="p",
        run_id="r",
        skill=functional.skill,
        jobs=(QuietJob(id="q", probe="quiet"), SustainedJob(id="s", probe="sustained")),
        reply_to="skillmark.results.r",
    )

    found = queues.queue_of(functional), queues.queue_of(latency)

    assert found == (queues.FUNCTIONAL, queues.LATENCY)


def test_a_parcel_for_two_queues_is_refused(echo_skill: EchoSkill) -> None:
    """Jobs of different queues do not travel together, and no parcel is empty."""
    functional = echo_skill.parcel("r", ["a"])
    mixed = type(functional)(
        id="p",
        run_id="r",
        skill=functional.skill,
        jobs=(*functional.jobs, QuietJob(id="q", probe="quiet")),
        reply_to=functional.reply_to,
    )

    with pytest.raises(ValueError, match="one queue"):
        queues.queue_of(mixed)


def test_every_queue_is_a_quorum_queue() -> None:
    """Everything declared is durable and a quorum queue, none with priorities; a job queue has its suspects' queue."""
    declared = {
        arguments["queue"]: arguments
        for method, arguments in queues.declarations(*queues.ALL, queues.results_queue("r"))
        if method == "queue_declare"
    }

    assert set(declared) == {
        *queues.ALL,
        *map(queues.suspects_of, queues.ALL),
        queues.DEAD,
        queues.results_queue("r"),
    }
    assert all(one["durable"] for one in declared.values())
    assert {one["arguments"]["x-queue-type"] for one in declared.values()} == {"quorum"}
    assert not any("x-max-priority" in one["arguments"] for one in declared.values())
