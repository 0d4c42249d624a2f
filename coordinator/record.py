"""One line of results.jsonl: everything said of one skill. The names are a contract with those who read the file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import UNSET, Struct, UnsetType

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
    """The quiet series, in milliseconds; percentiles by nearest rank over the successful requests.

    *uncertainty* bounds the error of the percentiles; *fallbacks* samples were read by the application's own clock.
    *lag* says of each sample how far our machine was in the way; *retaken* samples were taken again for that reason,
    *flagged* ones stayed doubtful. *first_byte* is the part of each sample until the answer began; *connect* and *tls*,
    one figure a connection, are its set-up and in no sample.

    *sustained* are the answers under sustained load, each from when it was due, of *sustained_planned* requests;
    *degradation* is their p95 over that of the quiet series, requests that failed counted in neither.
    """

    p50: float
    p95: float
    p99: float
    samples: tuple[float, ...]
    uncertainty: float
    fallbacks: int = 0
    lag: tuple[float, ...] = ()
    retaken: int = 0
    flagged: int = 0
    first_byte: tuple[float, ...] = ()
    connect: tuple[float, ...] = ()
    tls: tuple[float, ...] = ()
    sustained: tuple[float, ...] = ()
    sustained_planned: int = 0
    degradation: float | UnsetType = UNSET


class Stamps(Struct, frozen=True, kw_only=True):
    """What the verdict was made with: the engine's version, and digests of everything that decided it.

    *origin* is the run whose stored answers were judged again, where no calls were made. *advisories* is the database
    of known vulnerabilities, where there is one.
    """

    engine: str
    policy: str
    corpus: str
    benchmarks: dict[str, str]
    origin: str | UnsetType = UNSET
    advisories: str | UnsetType = UNSET


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
    sustained: Series | None = None,
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
        latency_ms=_latency(quiet, sustained),
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


def unexamined(source: str, reason: str, header: Header) -> Record:
    """The record of what stands at *source* and could not be examined, through our own fault."""
    return Record(
        skill=SkillName(id=None, name=None, version=None, digest=None, source=source),
        run_id=header.run_id,
        mode=header.mode,
        verdict=Decision.INCOMPLETE,
        reasons=(reason,),
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


def _latency(series: Series | None, sustained: Series | None) -> Latency | None:
    if series is None or not series.samples_ms:
        return None
    loaded = sustained.samples_ms if sustained else ()
    p95 = percentile(series.samples_ms, 0.95)
    return Latency(
        p50=round(percentile(series.samples_ms, 0.50), 3),
        p95=round(p95, 3),
        p99=round(percentile(series.samples_ms, 0.99), 3),
        samples=_rounded(series.samples_ms),
        uncertainty=round(series.uncertainty_ms, 3),
        fallbacks=len(series.samples_ms) if series.clock == "monotonic" else series.fallbacks,
        lag=_rounded(series.lag_ms),
        retaken=sum(tries > 1 for tries in series.tries),
        flagged=series.flagged,
        first_byte=_rounded(series.first_byte_ms),
        connect=_rounded(series.connect_ms),
        tls=_rounded(series.tls_ms),
        sustained=_rounded(loaded),
        sustained_planned=sustained.planned if sustained else 0,
        degradation=round(percentile(loaded, 0.95) / p95, 3) if loaded and p95 > 0 else UNSET,
    )


def _rounded(times_ms: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(ms, 3) for ms in times_ms)


def stamped(header: Header) -> dict[str, object]:
    """The stamps of *header* as plain data."""
    plain: dict[str, object] = msgspec.to_builtins(header.stamps)
    return plain
