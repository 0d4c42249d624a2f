"""The queues: their names, their arguments, and which job travels on which.

Every queue is a quorum queue: measured end to end they cost nothing visible, and they carry the delivery count by which
a job that kills its worker is recognised. They refuse ``x-max-priority``, so a priority is a queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workers.wire.job import (
    DiscoverJob,
    EdgeCaseJob,
    ExamineJob,
    FunctionalJob,
    HygieneJob,
    Parcel,
    QuietJob,
    SecurityJob,
    SustainedJob,
)

FUNCTIONAL = "skillmark.functional"
SECURITY = "skillmark.security"
LATENCY = "skillmark.latency"
STATIC = "skillmark.static"
ALL = (FUNCTIONAL, SECURITY, LATENCY, STATIC)

DEAD = "skillmark.dead"
"""Fanout exchange, and the one queue bound to it, for messages that nobody can read."""

RESULTS = "skillmark.results."

SUSPECTS = ".suspects"
"""Ending of the queue beside a job queue for single jobs that lost their worker. Each process takes one at a time from
it and nothing ahead, so that its delivery count tells the job that kills workers from those that were only near."""

DELIVERY_LIMIT = 50
"""Deliveries before the broker itself gives a message up. Generous: it also counts messages that a lost worker had
only prefetched. Workers give a job up long before (`workers.actors.LOST_ALONE`)."""

DEAD_TTL_MS = 7 * 24 * 3600 * 1000
RESULTS_EXPIRE_MS = 24 * 3600 * 1000

_QUEUE_OF = {
    FunctionalJob: FUNCTIONAL,
    EdgeCaseJob: FUNCTIONAL,
    ExamineJob: FUNCTIONAL,
    SecurityJob: SECURITY,
    HygieneJob: SECURITY,
    QuietJob: LATENCY,
    SustainedJob: LATENCY,
    DiscoverJob: FUNCTIONAL,
}


def queue_of(parcel: Parcel) -> str:
    """The queue for *parcel*, by the kind of its jobs.

    Raises:
        ValueError: If it is empty, or holds jobs of different queues.
    """
    queues = {_QUEUE_OF[type(job)] for job in parcel.jobs}
    if len(queues) != 1:
        raise ValueError(f"parcel {parcel.id} must hold jobs of one queue, it holds {sorted(queues)}")
    return queues.pop()


def suspects_of(queue: str) -> str:
    """The queue for those of *queue* that lost their worker."""
    return queue.removesuffix(SUSPECTS) + SUSPECTS


def results_queue(run_id: str) -> str:
    """The queue to which the results of the run *run_id* go."""
    return RESULTS + run_id


def declarations(*names: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What declares the queues *names* and what they rest on: methods of a pika channel and their arguments.

    A job queue brings its suspects' queue along.
    One list for the blocking channel of a worker's consumer and the asyncio channel of a publisher or collector.
    """
    yield "exchange_declare", {"exchange": DEAD, "exchange_type": "fanout", "durable": True}
    yield "queue_declare", {"queue": DEAD, "durable": True, "arguments": _arguments(DEAD)}
    yield "queue_bind", {"queue": DEAD, "exchange": DEAD}
    for name in names:
        yield "queue_declare", {"queue": name, "durable": True, "arguments": _arguments(name)}
        if name in ALL:
            yield "queue_declare", {"queue": suspects_of(name), "durable": True, "arguments": _arguments(name)}


def _arguments(name: str) -> dict[str, Any]:
    if name == DEAD:
        return {"x-queue-type": "quorum", "x-message-ttl": DEAD_TTL_MS}
    if name.startswith(RESULTS):
        return {"x-queue-type": "quorum", "x-expires": RESULTS_EXPIRE_MS}
    return {"x-queue-type": "quorum", "x-delivery-limit": DELIVERY_LIMIT, "x-dead-letter-exchange": DEAD}
