"""Skill x tasks x payloads -> jobs. Pure, one skill at a time: memory does not grow with the catalog.

Stages, in order: functional tasks; attacks that leave no trace; attacks on the skill's state, alone, since what they
plant could be taken for another's doing; the quiet latencies, when nothing else of ours calls the skill; the sustained
load. Attacks come after the functional tasks so that what they break is not billed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from benchmarks.loader import Benchmark
from coordinator.catalog.skill import Skill
from coordinator.policy import Policy
from coordinator.schedule import Stage
from coordinator.tally import Planned
from coordinator.tasks import PlannedTask, tasks_of
from payloads.loader import Corpus
from workers.wire.job import Attack, FunctionalJob, Job, Pillar, QuietJob, SecurityJob, SustainedJob, job_id
from workers.wire.skill import Access, SkillRef

QUIET = "latency/quiet"
SUSTAINED = "latency/sustained"


class Plan(Struct, frozen=True, kw_only=True):
    """Everything that one skill is to be asked. *host* is whom the per-host cap protects."""

    ref: SkillRef
    host: str
    stages: tuple[Stage[Job], ...]
    planned: tuple[Planned, ...]
    max_latency_ms: float


class Planner:
    """Plans skills of one run, with one corpus, the same benchmarks and one policy."""

    def __init__(
        self,
        *,
        run_id: str,
        policy: Policy,
        corpus: Corpus,
        benchmarks: Sequence[Benchmark] = (),
        allow_networks: Sequence[str] = (),
    ) -> None:
        self._run_id = run_id
        self._policy = policy
        self._benchmarks = tuple(benchmarks)
        self._allow_networks = tuple(allow_networks)
        self._attacks = [msgspec.convert(payload, Attack, from_attributes=True) for payload in corpus.payloads]

    def plan(self, skill: Skill) -> Plan | None:
        """The plan of *skill*, or None where it has no live endpoint."""
        if skill.access is None:
            return None
        ref = self._ref(skill, skill.access)
        tasks = tasks_of(skill, self._benchmarks)
        functional = {job.id: job for job in (self._functional(skill, ref, task) for task in tasks)}
        attacks = [self._security(ref, attack) for attack in self._attacks]
        quiet, sustained = self._quiet(ref), self._sustained(ref)
        planned = [
            *(
                Planned(job_id=id_, pillar=Pillar.FUNCTIONAL, probe=task.probe, group=task.group, weight=task.weight)
                for id_, task in zip(functional, tasks, strict=True)
            ),
            *(
                Planned(
                    job_id=job.id,
                    pillar=Pillar.SECURITY,
                    probe=job.probe,
                    category=job.attack.category,
                    severity=job.attack.severity,
                )
                for job in attacks
            ),
            *(Planned(job_id=job.id, pillar=Pillar.PERFORMANCE, probe=job.probe) for job in (quiet, sustained)),
        ]
        return Plan(
            ref=ref,
            host=urlsplit(ref.access.endpoint).netloc.rpartition("@")[2].lower(),
            stages=self._stages(skill, functional, attacks, quiet, sustained),
            planned=tuple(planned),
            max_latency_ms=self._max_latency_ms(skill),
        )

    def _stages(
        self,
        skill: Skill,
        functional: dict[str, FunctionalJob],
        attacks: list[SecurityJob],
        quiet: QuietJob,
        sustained: SustainedJob,
    ) -> tuple[Stage[Job], ...]:
        # A publisher's rate limit is kept by one parcel with one lane: the session paces what is in it.
        paced = skill.max_requests_per_second is not None
        lanes = 1 if paced else self._policy.limits.host_in_flight
        traceless: dict[str, Job] = {job.id: job for job in attacks if not job.attack.stateful}
        stateful: dict[str, Job] = {job.id: job for job in attacks if job.attack.stateful}
        return (
            Stage(dict(functional), lanes, exclusive=paced),
            Stage(traceless, lanes, exclusive=paced),
            Stage(stateful, 1, exclusive=True),
            Stage({quiet.id: quiet}, 1),
            Stage({sustained.id: sustained}, 1, cost=sustained.max_in_flight),
        )

    def _ref(self, skill: Skill, access: Access) -> SkillRef:
        return SkillRef(
            id=skill.id,
            name=skill.name,
            version=skill.version,
            digest=skill.digest,
            access=access,
            input_schema=skill.input_schema,
            output_schema=skill.output_schema,
            example=skill.example,
            description=public_text(skill),
            open_ended=skill.open_ended,
            planted=skill.planted,
            timeout_ms=skill.timeout_ms or self._policy.functional.timeout_ms,
            allow_networks=self._allow_networks,
            max_requests_per_second=skill.max_requests_per_second,
        )

    def _id(self, ref: SkillRef, pillar: Pillar, probe: str) -> str:
        return job_id(self._run_id, ref.digest, pillar, probe)

    def _functional(self, skill: Skill, ref: SkillRef, task: PlannedTask) -> FunctionalJob:
        return FunctionalJob(
            id=self._id(ref, Pillar.FUNCTIONAL, task.probe),
            probe=task.probe,
            input=task.input,
            expectation=task.expectation,
            timeout_ms=task.timeout_ms or ref.timeout_ms,
        )

    def _security(self, ref: SkillRef, attack: Attack) -> SecurityJob:
        return SecurityJob(
            id=self._id(ref, Pillar.SECURITY, attack.id),
            probe=attack.id,
            attack=attack,
            timeout_ms=ref.timeout_ms,
            max_fields=self._policy.security.max_fields,
        )

    def _quiet(self, ref: SkillRef) -> QuietJob:
        return QuietJob(
            id=self._id(ref, Pillar.PERFORMANCE, QUIET),
            probe=QUIET,
            requests=self._policy.performance.requests,
            warmup=self._policy.performance.warmup,
            timeout_ms=ref.timeout_ms,
        )

    def _sustained(self, ref: SkillRef) -> SustainedJob:
        load = self._policy.performance.sustained
        return SustainedJob(
            id=self._id(ref, Pillar.PERFORMANCE, SUSTAINED),
            probe=SUSTAINED,
            rate_per_s=min(load.rate_per_s, ref.max_requests_per_second or load.rate_per_s),
            duration_s=load.duration_s,
            max_in_flight=load.max_in_flight,
            timeout_ms=ref.timeout_ms,
        )

    def _max_latency_ms(self, skill: Skill) -> float:
        given = [float(benchmark.max_latency_ms) for benchmark in self._benchmarks]
        if skill.timeout_ms is not None:
            given.append(float(skill.timeout_ms))
        return min(given, default=self._policy.performance.max_latency_ms)


def public_text(skill: Skill) -> str:
    """What the manifest says in public: a skill that repeats it gives nothing away."""
    parts = [skill.name, skill.description, skill.scope, skill.data_handling]
    parts += [text for field in (*skill.inputs, *skill.outputs) for text in (field.name, field.description)]
    parts += [text for mode in skill.failure_modes for text in (mode.condition, mode.behaviour)]
    return "\n".join(part for part in parts if part)
