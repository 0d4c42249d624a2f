"""One line of the results of `eval`: what the functional tasks say of one skill.

No certificate: there is no security and no performance in it. Names and formulas of the measures are those that the
eval-skills format made known, with one difference: what could not be judged leaves the rates and lowers the coverage.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from coordinator.catalog.skill import Rejection, Skill
from coordinator.record import SkillName, located
from coordinator.tally import Finding


class Grade(StrEnum):
    """What is said of a skill in the end."""

    PASSED = "passed"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    REJECTED = "rejected"


class Percentiles(Struct, frozen=True, kw_only=True):
    """Of the times that answered calls took, in milliseconds, by nearest rank; the application's own reading."""

    p50: float
    p95: float
    p99: float


class Measures(Struct, frozen=True, kw_only=True):
    """What the task runs add up to. Rates and scores are 0 to 1, None where there is nothing to tell them by.

    *completion_rate* counts the runs that passed, *error_rate* those that errored or timed out, both of the judged;
    *partial_score* is the tasks' scores by the scoring method of each benchmark (*groups* has them one by one).
    *consistency* is 1 - the standard deviation of the completion rates of the repeats, of two or more. *composite* is
    0.5 x completion + 0.2 x (1 - p95 / longest latency allowed) + 0.3 x (1 - errors). *flaky* names the tasks that
    passed in some runs only. *coverage* is the judged part of what was planned.
    """

    tasks: int
    runs: int
    planned: int
    judged: int
    passed: int
    completion_rate: float | None
    partial_score: float | None
    error_rate: float | None
    consistency: float | None
    latency_ms: Percentiles | None
    composite: float | None
    coverage: float
    groups: dict[str, float | None] = {}
    flaky: tuple[str, ...] = ()


class Stamps(Struct, frozen=True, kw_only=True):
    """What the grade was given with."""

    engine: str
    policy: str
    benchmarks: dict[str, str]
    min_completion: float


class Header(Struct, frozen=True, kw_only=True):
    """What all scorecards of a run have in common."""

    run_id: str
    stamps: Stamps


class Scorecard(Struct, frozen=True, kw_only=True):
    """One skill of one run; *measures* is None for an entry that was rejected or not called."""

    skill: SkillName
    run_id: str
    verdict: Grade
    reasons: tuple[str, ...]
    measures: Measures | None
    findings: tuple[Finding, ...]
    stamps: Stamps


def scorecard(
    entry: Skill | Rejection,
    verdict: Grade,
    reasons: Sequence[str],
    header: Header,
    *,
    measures: Measures | None = None,
    findings: Sequence[Finding] = (),
) -> Scorecard:
    """The scorecard of one catalog entry."""
    if isinstance(entry, Rejection):
        name = SkillName(id=None, name=None, version=None, digest=None, source=located(entry))
    else:
        name = SkillName(
            id=entry.id, name=entry.name, version=entry.version, digest=entry.digest, source=located(entry)
        )
    return Scorecard(
        skill=name,
        run_id=header.run_id,
        verdict=verdict,
        reasons=tuple(reasons),
        measures=measures,
        findings=tuple(findings),
        stamps=header.stamps,
    )


def line(card: Scorecard) -> bytes:
    """*card* as one line of JSON, ASCII only: whatever a skill put into it, a terminal shows it as text."""
    return json.dumps(msgspec.to_builtins(card), ensure_ascii=True, separators=(",", ":")).encode()


def parse(body: bytes) -> Scorecard:
    """The scorecard in a line.

    Raises:
        msgspec.DecodeError: If it is none.
    """
    return msgspec.json.decode(body, type=Scorecard)
