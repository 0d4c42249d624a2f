"""Skill x tasks x payloads -> jobs. Pure, one skill at a time: memory does not grow with the catalog.

Stages, in order: functional tasks; edge cases, one by one; attacks that leave no trace; attacks on the skill's state,
alone, since what they plant could be taken for another's doing, and after them what may break it; the quiet latencies,
when nothing else of ours calls the skill; the sustained load. Attacks come after the functional tasks so that what they
break is not billed twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from benchmarks.loader import Benchmark
from coordinator.catalog.skill import Skill
from coordinator.discovery import DISCOVERY, is_server
from coordinator.functional_jobs import FunctionalJobs, functional_jobs, repeats_of
from coordinator.policy import Policy
from coordinator.schedule import Stage
from coordinator.subject import examines
from coordinator.tally import HYGIENE, Planned
from coordinator.tasks import checked
from workers.wire.job import Attack, DiscoverJob, HygieneJob, Job, Pillar, QuietJob, SecurityJob, SustainedJob, job_id
from workers.wire.skill import Access, SkillRef

if TYPE_CHECKING:
    from payloads.loader import Corpus

QUIET = "latency/quiet"
SUSTAINED = "latency/sustained"
NOBODY = Access(adapter="http", endpoint="")
"""The way in to a skill that is not called: jobs about its manifest alone travel with it."""


class Plan(Struct, frozen=True, kw_only=True):
    """Everything that one skill is to be asked. *host* is whom the per-host cap protects.

    One that *discovers* asks a server for its tools: they are the skills.
    """

    ref: SkillRef
    host: str
    stages: tuple[Stage[Job], ...]
    planned: tuple[Planned, ...]
    max_latency_ms: float
    discovers: bool = False


class Planner:
    """Plans skills of one run, with one corpus (without one nobody is attacked), the same benchmarks and one policy.

    *attacks* are the ids of those that are sent, None for all. The others are planned and left out: evidence missing.

    Raises:
        BenchmarkError: If a benchmark cannot be run, or two different ones have the same id.
    """

    def __init__(
        self,
        *,
        run_id: str,
        policy: Policy,
        corpus: Corpus | None = None,
        benchmarks: Sequence[Benchmark] = (),
        allow_networks: Sequence[str] = (),
        allow_exec: bool = False,
        attacks: Collection[str] | None = None,
    ) -> None:
        self._run_id = run_id
        self._policy = policy
        self._benchmarks = checked(benchmarks, repeats_of(policy.functional))
        self._allow_networks = tuple(allow_networks)
        self._allow_exec = allow_exec
        self._chosen = attacks
        every = corpus.payloads if corpus else ()
        self._attacks = [msgspec.convert(payload, Attack, from_attributes=True) for payload in every]

    def plan(self, skill: Skill) -> Plan | None:
        """The plan of *skill*, or None where it has no live endpoint, or is a program that may not be started."""
        if skill.access is None or (skill.access.is_program and not self._allow_exec):
            return None
        ref = self._ref(skill, skill.access)
        if is_server(skill):
            return self._discovery(ref)
        functional = functional_jobs(self._run_id, skill, ref, self._benchmarks, self._policy.functional)
        attacks = [self._security(ref, attack) for attack in self._attacks]
        hygiene = HygieneJob(id=self._id(ref, Pillar.SECURITY, HYGIENE), probe=HYGIENE, timeout_ms=ref.timeout_ms)
        quiet, sustained = self._quiet(ref), self._sustained(ref)
        planned = [
            *functional.planned,
            *(
                Planned(
                    job_id=job.id,
                    pillar=Pillar.SECURITY,
                    probe=job.probe,
                    category=job.attack.category,
                    severity=job.attack.severity,
                    left_out=not self._sends(job),
                )
                for job in attacks
            ),
            *([] if self._chosen is not None else [_planned_hygiene(hygiene)]),
            Planned(job_id=quiet.id, pillar=Pillar.PERFORMANCE, probe=quiet.probe),
            Planned(
                job_id=sustained.id,
                pillar=Pillar.PERFORMANCE,
                probe=sustained.probe,
                misfit=self._spared_load(skill),
            ),
        ]
        return Plan(
            ref=ref,
            host=_host(ref),
            stages=self._stages(
                skill, functional, [job for job in attacks if self._sends(job)], hygiene, quiet, sustained
            ),
            planned=tuple(planned),
            max_latency_ms=self._max_latency_ms(skill, functional.planned),
        )

    def examination(self, skill: Skill) -> Plan | None:
        """What examines the manifest of a *skill* that is not called; None without a benchmark about manifests."""
        about = [benchmark for benchmark in self._benchmarks if examines(benchmark)]
        ref = self._ref(skill, NOBODY)
        functional = functional_jobs(self._run_id, skill, ref, about, self._policy.functional)
        planned = tuple(one for one in functional.planned if one.examines)
        if not planned:
            return None
        return Plan(
            ref=ref,
            host=_host(ref),
            stages=(Stage({one.job_id: functional.tasks[one.job_id] for one in planned}, 1),),
            planned=planned,
            max_latency_ms=self._policy.performance.max_latency_ms,
        )

    def _discovery(self, ref: SkillRef) -> Plan:
        job = DiscoverJob(id=self._id(ref, Pillar.FUNCTIONAL, DISCOVERY), probe=DISCOVERY, timeout_ms=ref.timeout_ms)
        return Plan(
            ref=ref,
            host=_host(ref),
            stages=(Stage({job.id: job}, 1),),
            planned=(Planned(job_id=job.id, pillar=Pillar.FUNCTIONAL, probe=DISCOVERY),),
            max_latency_ms=self._policy.performance.max_latency_ms,
            discovers=True,
        )

    def _stages(
        self,
        skill: Skill,
        functional: FunctionalJobs,
        attacks: list[SecurityJob],
        hygiene: HygieneJob,
        quiet: QuietJob,
        sustained: SustainedJob,
    ) -> tuple[Stage[Job], ...]:
        # A publisher's rate limit is kept by one parcel with one lane: the session paces what is in it.
        paced = skill.max_requests_per_second is not None
        lanes = 1 if paced else self._policy.limits.host_in_flight
        traceless: dict[str, Job] = {job.id: job for job in attacks if not job.attack.stateful}
        stateful: dict[str, Job] = {job.id: job for job in attacks if job.attack.stateful}
        if self._chosen is None:
            stateful[hygiene.id] = hygiene
        return (
            Stage(functional.tasks, lanes, exclusive=paced),
            Stage(functional.edge_cases, 1, exclusive=True),
            Stage(traceless, lanes, exclusive=paced),
            Stage(stateful, 1, exclusive=True),
            Stage({quiet.id: quiet}, 1),
            Stage({} if self._spared_load(skill) else {sustained.id: sustained}, 1, cost=sustained.max_in_flight),
        )

    def _sends(self, job: SecurityJob) -> bool:
        return self._chosen is None or job.probe in self._chosen

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
            guessed=skill.guessed,
            description=public_text(skill),
            open_ended=skill.open_ended,
            planted=skill.planted,
            timeout_ms=skill.timeout_ms or self._policy.functional.timeout_ms,
            allow_networks=self._allow_networks,
            allow_exec=self._allow_exec,
            max_requests_per_second=skill.max_requests_per_second,
            permissions=skill.permissions,
        )

    def _id(self, ref: SkillRef, pillar: Pillar, probe: str) -> str:
        return job_id(self._run_id, ref.digest, pillar, probe)

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
            max_lag_ms=self._policy.performance.max_lag_ms,
            retakes=self._policy.performance.retakes,
        )

    def _sustained(self, ref: SkillRef) -> SustainedJob:
        load = self._policy.performance.sustained
        return SustainedJob(
            id=self._id(ref, Pillar.PERFORMANCE, SUSTAINED),
            probe=SUSTAINED,
            rate_per_s=load.rate_per_s,
            duration_s=load.duration_s,
            max_in_flight=load.max_in_flight,
            timeout_ms=ref.timeout_ms,
            max_lag_ms=self._policy.performance.max_lag_ms,
        )

    def _spared_load(self, skill: Skill) -> str:
        """Why *skill* is spared the sustained load, if so: at a lower rate it would show nothing about this one."""
        rate, limit = self._policy.performance.sustained.rate_per_s, skill.max_requests_per_second
        if limit is None or limit >= rate:
            return ""
        return f"a load of {rate:g} requests a second is more than the {limit:g} that the publisher allows"

    def _max_latency_ms(self, skill: Skill, planned: Sequence[Planned]) -> float:
        """The least that a benchmark which calls the skill, or the manifest, allows."""
        asked = {one.group for one in planned if not one.misfit}
        calling = [one for one in self._benchmarks if one.id in asked and not examines(one)]
        given = [float(benchmark.max_latency_ms) for benchmark in calling]
        if skill.timeout_ms is not None:
            given.append(float(skill.timeout_ms))
        return min(given, default=self._policy.performance.max_latency_ms)


def _planned_hygiene(job: HygieneJob) -> Planned:
    return Planned(job_id=job.id, pillar=Pillar.SECURITY, probe=job.probe, group=HYGIENE)


def _host(ref: SkillRef) -> str:
    return urlsplit(ref.access.endpoint).netloc.rpartition("@")[2].lower()


def uncalled_because(skill: Skill) -> str:
    """Why *skill*, which got no plan, is not called."""
    if skill.access is None:
        return "the manifest names no live endpoint"
    return "it would have to be started as a program; --allow-exec allows that"


def public_text(skill: Skill) -> str:
    """What the manifest says in public: a skill that repeats it gives nothing away."""
    parts = [skill.name, skill.description, skill.scope, skill.data_handling]
    parts += [text for field in (*skill.inputs, *skill.outputs) for text in (field.name, field.description)]
    parts += [text for mode in skill.failure_modes for text in (mode.condition, mode.behaviour)]
    return "\n".join(part for part in parts if part)
