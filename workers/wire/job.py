"""Jobs and parcels: what is to be done, complete in itself.

A job is one benchmark task, one attack or one latency series; it has its own id and gets its own result. A parcel is
the message: jobs of one skill that travel together. Parcels of 20 carry 4.5-6 times the throughput of single jobs
(2 cores, RabbitMQ 3.10), because the broker's cost is per message.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Any

from msgspec import Struct

from workers.wire.skill import SkillRef


class Pillar(StrEnum):
    """The three pillars of a certificate."""

    FUNCTIONAL = "functional"
    SECURITY = "security"
    PERFORMANCE = "performance"


class Expectation(Struct, frozen=True, kw_only=True):
    """What a task wants to see. *evaluator* names a module of ``workers.evaluators`` (or one of its aliases)."""

    evaluator: str
    expected: dict[str, Any]
    options: dict[str, Any] = {}


class FunctionalJob(Struct, frozen=True, kw_only=True, tag="functional", tag_field="kind"):
    """Call the skill once with *input*; without an expectation only the declared outputs are checked."""

    id: str
    probe: str
    input: dict[str, Any]
    expectation: Expectation | None = None
    timeout_ms: int = 30_000


class Wanted(StrEnum):
    """What a skill that holds its declaration does with an edge case."""

    ANSWERED = "answered"
    REFUSED = "refused"
    EITHER = "either"


class EdgeCaseJob(Struct, frozen=True, kw_only=True, tag="edge_case", tag_field="kind"):
    """Call the skill once with *input* or, where *body* is given, with that instead of its JSON body.

    *about* says what is sent, for people, *declared* which failure mode the manifest declares for it; *statuses* are
    those of the refusal that it names. A call that should be refused is followed by the skill's example.
    """

    id: str
    probe: str
    about: str
    wanted: Wanted
    input: dict[str, Any] = {}
    body: str | None = None
    declared: str = ""
    statuses: tuple[int, ...] = ()
    timeout_ms: int = 30_000


class ExamineJob(Struct, frozen=True, kw_only=True, tag="examine", tag_field="kind"):
    """Hold *subject*, what the skill says of itself, against an expectation; the skill is not called."""

    id: str
    probe: str
    subject: Any
    expectation: Expectation
    timeout_ms: int = 30_000


class Confirm(Struct, frozen=True, kw_only=True):
    """How often a hit is replayed with fresh canaries, and how many replays must hit again."""

    replays: int = 2
    need: int = 2


class Attack(Struct, frozen=True, kw_only=True):
    """One entry of the attack corpus, as a worker needs it. *detector* names a module of ``workers.detectors``.

    *pieces* are named parts of the texts, *options* are the detector's own and parsed by it. A *stateful* attack
    may change what the skill says to others: nothing else may be asked of the skill meanwhile.
    """

    id: str
    rev: int
    category: str
    severity: str
    title: str
    detector: str
    fits: tuple[str, ...]
    carriers: tuple[str, ...]
    template: str
    pieces: dict[str, str] = {}
    witness: str = ""
    controls: dict[str, str] = {}
    options: dict[str, Any] = {}
    confirm: Confirm = Confirm()
    stateful: bool = False


class SecurityJob(Struct, frozen=True, kw_only=True, tag="security", tag_field="kind"):
    """Run one attack through each fitting field, at most *max_fields* of them."""

    id: str
    probe: str
    attack: Attack
    timeout_ms: int = 30_000
    max_fields: int = 8


class HygieneJob(Struct, frozen=True, kw_only=True, tag="hygiene", tag_field="kind"):
    """Send what no honest caller sends, one after the other, and see whether the skill still answers."""

    id: str
    probe: str
    timeout_ms: int = 30_000


class QuietJob(Struct, frozen=True, kw_only=True, tag="quiet", tag_field="kind"):
    """*requests* sequential calls after *warmup* unmeasured ones.

    A sample with a lag above *max_lag_ms* is taken again, at most *retakes* times, and then flagged.
    """

    id: str
    probe: str
    requests: int = 20
    warmup: int = 1
    max_lag_ms: float = 10.0
    retakes: int = 2
    timeout_ms: int = 30_000


class SustainedJob(Struct, frozen=True, kw_only=True, tag="sustained", tag_field="kind"):
    """An open-loop load of *rate_per_s* for *duration_s*, at most *max_in_flight* at once.

    A sample with a lag above *max_lag_ms* is flagged; taken again it would not be the same load.
    """

    id: str
    probe: str
    rate_per_s: float = 10.0
    duration_s: float = 2.0
    max_in_flight: int = 4
    max_lag_ms: float = 10.0
    timeout_ms: int = 30_000


class DiscoverJob(Struct, frozen=True, kw_only=True, tag="discover", tag_field="kind"):
    """Ask a server which tools it has."""

    id: str
    probe: str
    timeout_ms: int = 30_000


Job = FunctionalJob | EdgeCaseJob | ExamineJob | SecurityJob | HygieneJob | QuietJob | SustainedJob | DiscoverJob

PILLAR_OF: dict[type, Pillar] = {
    FunctionalJob: Pillar.FUNCTIONAL,
    EdgeCaseJob: Pillar.FUNCTIONAL,
    ExamineJob: Pillar.FUNCTIONAL,
    SecurityJob: Pillar.SECURITY,
    HygieneJob: Pillar.SECURITY,
    QuietJob: Pillar.PERFORMANCE,
    SustainedJob: Pillar.PERFORMANCE,
    DiscoverJob: Pillar.FUNCTIONAL,
}


class Parcel(Struct, frozen=True, kw_only=True):
    """One message: jobs of one skill, run at most *lanes* at a time, results to the queue *reply_to*."""

    id: str
    run_id: str
    skill: SkillRef
    jobs: tuple[Job, ...]
    reply_to: str
    lanes: int = 1


def job_id(run_id: str, skill_digest: str, pillar: Pillar, probe: str, repeat: int = 0) -> str:
    """The id of a job: the same plan gives the same ids, so publishing twice cannot count twice."""
    parts = "\x00".join((run_id, skill_digest, pillar, probe, str(repeat)))
    return hashlib.sha256(parts.encode()).hexdigest()[:32]
