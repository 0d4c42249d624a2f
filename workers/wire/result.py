"""Results: what a job found, or why it could not be judged.

Blame is typed: `Judged` is what the skill earned, `Unjudged` is our own failure. There is no third.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from workers.wire.job import Pillar

EVIDENCE_CHARS = 2_000
KEPT_BODY_CHARS = 16_384


class Outcome(StrEnum):
    """How one probe ended; the words of results.jsonl."""

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    PARTIAL = "partial"
    FAIL = "fail"
    TIMEOUT = "timeout"
    ERROR = "error"
    EXPLOITED = "exploited"
    SUSPECT = "suspect"
    RESISTED = "resisted"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not_applicable"
    UNJUDGED = "unjudged"


class Exchange(Struct, frozen=True, kw_only=True):
    """One request to the skill and what it answered, kept so that a later detector can judge again.

    *step* says which request of the procedure it was, e.g. ``baseline`` or ``attack text/plain replay-1``.
    """

    step: str
    status: int
    body: str
    elapsed_ms: float


class Series(Struct, frozen=True, kw_only=True):
    """Latencies of one series, in milliseconds, in the order of the requests.

    *samples_ms* are the successful requests only, read with *clock* (``kernel`` or ``monotonic``); *app_ms* are the
    application's own readings of the same requests; the difference of a pair is how far our machine was in the way.
    *uncertainty_ms* bounds the error of one sample; *fallbacks* counts the samples of a kernel series that had to be
    read by the application. *first_byte_ms* goes with *samples_ms*. *connect_ms* and *tls_ms*, one a connection,
    are set-up times (application's reading) and in no sample.
    """

    planned: int
    samples_ms: tuple[float, ...]
    app_ms: tuple[float, ...]
    failures: int
    timeouts: int
    clock: str
    uncertainty_ms: float
    fallbacks: int = 0
    first_byte_ms: tuple[float, ...] = ()
    connect_ms: tuple[float, ...] = ()
    tls_ms: tuple[float, ...] = ()


class Verdict(Struct, frozen=True, kw_only=True):
    """What one probe found. *score* is 0..1, or None where the outcome decides nothing.

    *evidence* is for people and may quote the skill: escape it wherever it is shown. *requests* counts the calls made,
    *seconds* the time they took.
    """

    outcome: Outcome
    score: float | None = None
    category: str | None = None
    severity: str | None = None
    evidence: str = ""
    requests: int = 0
    seconds: float = 0.0
    exchanges: tuple[Exchange, ...] = ()
    series: Series | None = None


class Judged(Struct, frozen=True, kw_only=True, tag="judged", tag_field="kind"):
    """A verdict that the skill earned."""

    job_id: str
    run_id: str
    skill_digest: str
    pillar: Pillar
    probe: str
    verdict: Verdict


class Unjudged(Struct, frozen=True, kw_only=True, tag="unjudged", tag_field="kind"):
    """No verdict, through our own fault."""

    job_id: str
    run_id: str
    skill_digest: str
    pillar: Pillar
    probe: str
    reason: str


Result = Judged | Unjudged
