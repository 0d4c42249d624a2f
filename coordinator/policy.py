"""The policy: weights, thresholds, caps, repeats and curves, read from one versioned file.

The figures of the scheme live here and nowhere else, so a verdict can be traced to the digest of what decided it.
"""

from __future__ import annotations

import hashlib
import math
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import rfc8785
from msgspec import Meta, Struct

Fraction = Annotated[float, Meta(ge=0, le=1)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Positive = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=1, le=100_000)]


class PolicyError(Exception):
    """A policy file that cannot be used; the message names file, key, expectation and finding."""


class PillarWeights(Struct, frozen=True, forbid_unknown_fields=True):
    """Of the three pillars in the overall score."""

    functional: Fraction
    security: Fraction
    performance: Fraction


class Blend(Struct, frozen=True, forbid_unknown_fields=True):
    """Of live and static evidence in a pillar."""

    live: Fraction
    static: Fraction


class Certificate(Struct, frozen=True, forbid_unknown_fields=True):
    """What certified takes."""

    min_overall: Percent
    min_security: Percent
    min_coverage: Fraction
    static_cap: Percent


class Band(Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """A name for overall scores from *start* upwards."""

    name: str
    start: Percent


class GroupWeights(Struct, frozen=True, forbid_unknown_fields=True):
    """Of the groups of functional tasks."""

    example: Positive
    test_cases: Positive
    benchmark: Positive
    manifest: Positive
    edge_cases: Positive


class EdgeCasePolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """The generated edge cases."""

    max_requests: Annotated[int, Meta(ge=0, le=1000)]


class FunctionalPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """The functional pillar. *k*, where given, takes the place of the benchmarks' own."""

    weights: GroupWeights
    edge_cases: EdgeCasePolicy
    timeout_ms: Count
    repeats: Annotated[int, Meta(ge=1, le=200)]
    k: Annotated[int, Meta(ge=1, le=200)] | None = None


class BySeverity(Struct, frozen=True, forbid_unknown_fields=True):
    """One figure a severity."""

    critical: float
    high: float
    medium: float
    low: float

    def of(self, severity: str) -> float:
        """The figure of *severity*."""
        return float(getattr(self, severity))


class Credit(Struct, frozen=True, forbid_unknown_fields=True):
    """r: what a decided probe is worth."""

    resisted: Fraction
    suspect: Fraction
    exploited: Fraction


class DependencyPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """The static check of dependencies against known vulnerabilities. *unverified* are points.

    *unrated* is the severity that a vulnerability counts as where nobody states one.
    """

    max_age_days: Positive
    unverified: Percent
    unrated: Literal["critical", "high", "medium", "low"]


class SecurityPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """The security pillar."""

    max_fields: Count
    severity_weights: BySeverity
    credit: Credit
    caps: BySeverity
    dependencies: DependencyPolicy


class CheckWeights(Struct, frozen=True, forbid_unknown_fields=True):
    """Of the static checks within their pillars, by the checks' names; only their proportions matter."""

    manifest: Positive
    dependencies: Positive
    source: Positive
    permissions: Positive
    data_handling: Positive
    failure_modes: Positive

    def of(self, check: str) -> float:
        """The weight of *check*."""
        return float(getattr(self, check))


class StaticPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """What findings of the static checks are worth. *unverified* are points, *repeat* is a factor."""

    repeat: Fraction
    unverified: Percent
    weights: CheckWeights
    points: BySeverity
    ceilings: BySeverity


class PerformanceWeights(Struct, frozen=True, forbid_unknown_fields=True):
    """Of the parts of the performance score."""

    speed: Fraction
    consistency: Fraction
    stability: Fraction


class RatioCurve(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a latency ratio starts to cost points, and where none is left."""

    tolerated: Annotated[float, Meta(ge=1)]
    hopeless: Annotated[float, Meta(gt=1)]


class SustainedPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """The sustained load."""

    rate_per_s: Positive
    duration_s: Positive
    max_in_flight: Count


class PerformancePolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """The performance pillar."""

    requests: Count
    warmup: Annotated[int, Meta(ge=0, le=1000)]
    max_lag_ms: Positive
    retakes: Annotated[int, Meta(ge=0, le=10)]
    good_latency_ms: Positive
    max_latency_ms: Positive
    noise_floor_ms: Positive
    weights: PerformanceWeights
    ratio: RatioCurve
    sustained: SustainedPolicy


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """What may be under way at once."""

    host_in_flight: Count
    jobs_in_flight: Count
    parcel_jobs: Annotated[int, Meta(ge=1, le=1000)]


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """One complete policy."""

    version: str
    weights: PillarWeights
    blend: Blend
    certificate: Certificate
    bands: tuple[Band, ...]
    static: StaticPolicy
    functional: FunctionalPolicy
    security: SecurityPolicy
    performance: PerformancePolicy
    limits: Limits

    @property
    def digest(self) -> str:
        """``sha256:`` over the canonical JSON (RFC 8785) of everything written in the policy."""
        return "sha256:" + hashlib.sha256(rfc8785.dumps(msgspec.to_builtins(self))).hexdigest()


def built_in() -> bytes:
    """The built-in policy as it was written, with the reason of each figure."""
    return (resources.files("coordinator") / "policies" / "default.toml").read_bytes()


def load(path: Path | None = None) -> Policy:
    """The policy in *path*, or the built-in one.

    Raises:
        PolicyError: If the file cannot be read, has an unknown or missing key, or figures that contradict each other.
    """
    name = str(path) if path else "the built-in policy"
    try:
        text = path.read_bytes() if path else built_in()
        policy = msgspec.toml.decode(text, type=Policy)
    except OSError as error:
        raise PolicyError(f"{name}: expected a readable policy file, found: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PolicyError(
            f"{name}: expected every key of the built-in policy and no other, found: {error}; "
            "`skillmark config policy` prints the built-in one"
        ) from error
    for key, expected, found in _contradictions(policy):
        raise PolicyError(f"{name}: {key}: expected {expected}, found {found}")
    return policy


def repeated(policy: Policy, *, repeats: int | None = None, k: int | None = None) -> Policy:
    """*policy* with each functional task run *repeats* times, and *k* for pass@k; None: as the policy has it.

    What decides is another policy then, and the digest says so.

    Raises:
        PolicyError: If the two contradict each other.
    """
    tasks = policy.functional
    changed = msgspec.structs.replace(tasks, repeats=repeats or tasks.repeats, k=k or tasks.k)
    policy = msgspec.structs.replace(policy, functional=changed)
    for key, expected, found in _contradictions(policy):
        raise PolicyError(f"{key}: expected {expected}, found {found}")
    return policy


def _contradictions(policy: Policy) -> list[tuple[str, str, Any]]:
    wrong: list[tuple[str, str, Any]] = []
    for key, weights in (
        ("weights", policy.weights),
        ("blend", policy.blend),
        ("performance.weights", policy.performance.weights),
    ):
        total = math.fsum(msgspec.structs.astuple(weights))
        if not math.isclose(total, 1, abs_tol=1e-9):
            wrong.append((key, "weights that add up to 1", f"{total:g}"))
    starts = [band.start for band in policy.bands]
    if not starts or starts[-1] != 0 or any(a <= b for a, b in pairwise(starts)):
        wrong.append(("bands", "falling starts that end at 0", starts))
    if policy.performance.ratio.hopeless <= policy.performance.ratio.tolerated:
        wrong.append(("performance.ratio", "hopeless above tolerated", policy.performance.ratio.hopeless))
    if policy.performance.good_latency_ms >= policy.performance.max_latency_ms:
        wrong.append(("performance.good_latency_ms", "less than max_latency_ms", policy.performance.good_latency_ms))
    if policy.performance.sustained.max_in_flight > policy.limits.host_in_flight:
        wrong.append(
            (
                "performance.sustained.max_in_flight",
                f"at most limits.host_in_flight ({policy.limits.host_in_flight})",
                policy.performance.sustained.max_in_flight,
            )
        )
    tasks = policy.functional
    if tasks.k is not None and 1 < tasks.repeats < tasks.k:
        wrong.append(("functional.k", f"at most functional.repeats ({tasks.repeats})", tasks.k))
    for name in ("severity_weights", "caps"):
        figures = msgspec.structs.astuple(getattr(policy.security, name))
        if any(figure < 0 for figure in figures):
            wrong.append((f"security.{name}", "no negative figure", figures))
    for name in ("points", "ceilings"):
        figures = msgspec.structs.astuple(getattr(policy.static, name))
        if not all(0 <= figure <= 100 for figure in figures):
            wrong.append((f"static.{name}", "figures of 0 to 100", figures))
    ceilings = msgspec.structs.astuple(policy.static.ceilings)
    if any(worse > better for worse, better in pairwise(ceilings)):
        wrong.append(("static.ceilings", "none above that of a lesser severity", ceilings))
    return wrong
