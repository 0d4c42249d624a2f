"""One line of results.jsonl: everything said of one skill. The names are a contract with those who read the file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from coordinator.catalog.skill import Rejection, Skill
from coordinator.certify import Certificate, Decision, Mode
from coordinator.score import PillarScore
from coordinator.tally import Finding
from workers.wire.job import Pillar
from workers.wire.percentiles import percentile
from workers.wire.result import Series


class SkillName(Struct, frozen=True, kw_only=True):
    """Which skill. All but *source* are None where a rejected entry did not say."""

    id: str | None
    name: str | None
    version: str | None
    digest: str | None
    source: str


class PillarLine(Struct, frozen=True, kw_only=True):
    """One pillar: 0 to 100, coverage 0 to 1."""

    score: float | None
    live: float | None
    static: float | None
    coverage: float


class Latency(Struct, frozen=True, kw_only=True):
    """The quiet series, in milliseconds; percentiles by nearest rank over the successful requests."""

    p50: float
    p95: float
    p99: float
    samples: tuple[float, ...]
    uncertainty: float


class Stamps(Struct, frozen=True, kw_only=True):
    """What the verdict was made with: the engine's version, and digests of everything that decided it."""

    engine: str
    policy: str
    corpus: str
    benchmarks: dict[str, str]


class Header(Struct, frozen=True, kw_only=True):
    """What all records of a run have in common."""

    run_id: str
    mode: Mode
    stamps: Stamps


class Record(Struct, frozen=True, kw_only=True):
    """One skill of one run."""

    skill: SkillName
    run_id: str
    mode: Mode
    verdict: Decision
    reasons: tuple[str, ...]
    overall: float | None
    band: str | None
    pillars: dict[str, PillarLine]
    latency_ms: Latency | None
    findings: tuple[Finding, ...]
    stamps: Stamps


def judged(
    skill: Skill,
    certificate: Certificate,
    pillars: Mapping[Pillar, PillarScore],
    header: Header,
    *,
    quiet: Series | None = None,
    findings: Sequence[Finding] = (),
) -> Record:
    """The record of a skill that was evaluated."""
    return Record(
        skill=SkillName(
            id=skill.id, name=skill.name, version=skill.version, digest=skill.digest, source=located(skill)
        ),
        run_id=header.run_id,
        mode=header.mode,
        verdict=certificate.verdict,
        reasons=certificate.reasons,
        overall=certificate.overall,
        band=certificate.band,
        pillars={
            pillar.value: PillarLine(score=one.score, live=one.live, static=one.static, coverage=one.coverage)
            for pillar, one in pillars.items()
        },
        latency_ms=_latency(quiet),
        findings=tuple(sorted(findings, key=lambda one: (list(Pillar).index(one.pillar), one.probe, one.evidence))),
        stamps=header.stamps,
    )


def rejected(rejection: Rejection, header: Header) -> Record:
    """The record of a catalog entry that is no skill."""
    return Record(
        skill=SkillName(id=None, name=None, version=None, digest=None, source=located(rejection)),
        run_id=header.run_id,
        mode=header.mode,
        verdict=Decision.REJECTED,
        reasons=(f"expected {rejection.expected}, found {rejection.found}",),
        overall=None,
        band=None,
        pillars={},
        latency_ms=None,
        findings=(),
        stamps=header.stamps,
    )


def located(entry: Skill | Rejection) -> str:
    """File and JSON pointer of a catalog entry."""
    return f"{entry.source}#{entry.pointer}" if entry.pointer else entry.source


def line(record: Record) -> bytes:
    """*record* as one line of JSON, ASCII only: whatever a skill put into it, a terminal shows it as text."""
    return json.dumps(msgspec.to_builtins(record), ensure_ascii=True, separators=(",", ":")).encode()


def parse(body: bytes) -> Record:
    """The record in a line of results.jsonl.

    Raises:
        msgspec.DecodeError: If it is none.
    """
    return msgspec.json.decode(body, type=Record)


def _latency(series: Series | None) -> Latency | None:
    if series is None or not series.samples_ms:
        return None
    return Latency(
        p50=round(percentile(series.samples_ms, 0.50), 3),
        p95=round(percentile(series.samples_ms, 0.95), 3),
        p99=round(percentile(series.samples_ms, 0.99), 3),
        samples=tuple(round(sample, 3) for sample in series.samples_ms),
        uncertainty=round(series.uncertainty_ms, 3),
    )


def stamped(header: Header) -> dict[str, object]:
    """The stamps of *header* as plain data."""
    plain: dict[str, object] = msgspec.to_builtins(header.stamps)
    return plain
