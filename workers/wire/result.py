"""Results: what a job found, or why it could not be judged.

Blame is typed: `Judged` is what the skill earned, `Unjudged` is our own failure. There is no third. `Discovered` blames
nobody: it is what a server that was asked for its tools answered.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

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


class Ending(StrEnum):
    """How a call ended, as the adapter read it."""

    VALUE = "value"
    REFUSED = "refused"
    FAILED = "failed"
    MALFORMED = "malformed"
    TIMED_OUT = "timed_out"
    BROKE = "broke"


class Exchange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request to the skill and what it answered, kept so that a later detector can judge again.

    *step* says which request of the procedure it was, e.g. ``baseline`` or ``attack text/plain replay-1``. *sent* is a
    digest of the inputs and the caller. *value* is the adapter's reading of the answer as JSON where the body alone
    does not give it; *reason* why the call did not bring one. *cut* tells that body, value or headers are not whole.
    *called* names the callbacks of the attempt that had come by then.
    """

    step: str
    status: int
    body: str
    elapsed_ms: float
    sent: str = ""
    ending: Ending | None = None
    reason: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    value: str = ""
    cut: bool = False
    called: tuple[str, ...] = ()


class Series(Struct, frozen=True, kw_only=True):
    """Latencies of one series, in milliseconds, in the order of the requests.

    *samples_ms* are the successful requests only, read with *clock* (``kernel`` or ``monotonic``); *app_ms* are the
    application's own readings of the same requests; the difference of a pair is how far our machine was in the way.
    *uncertainty_ms* bounds the error of their percentiles; *fallbacks* counts the samples of a kernel series that had
    to be read by the application. *first_byte_ms* goes with *samples_ms*. *connect_ms* and *tls_ms*, one a connection,
    are set-up times (application's reading) and in no sample. *lag_ms* says of each sample how far our machine was in
    the way, *tries* how often it was taken for that reason, and *flagged* of how many samples it stayed too far.
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
    lag_ms: tuple[float, ...] = ()
    tries: tuple[int, ...] = ()
    flagged: int = 0


class Verdict(Struct, frozen=True, kw_only=True):
    """What one probe found. *score* is 0..1, or None where the outcome decides nothing.

    *evidence* is for people and may quote the skill: escape it wherever it is shown. *requests* counts the calls made,
    *seconds* the time they took. *listener* is where callbacks were waited for, if any were: base URLs of the
    public class and of the internal one.
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
    listener: tuple[str, str] | None = None


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


class Tool(Struct, frozen=True, kw_only=True):
    """One tool of a server, as the server describes it; the schemas are unchecked and may be anything."""

    name: str
    title: str = ""
    description: str = ""
    input_schema: Any = None
    output_schema: Any = None


class Discovered(Struct, frozen=True, kw_only=True, tag="discovered", tag_field="kind"):
    """The tools of a server: at most 500, of at most 1 MiB."""

    job_id: str
    run_id: str
    skill_digest: str
    pillar: Pillar
    probe: str
    tools: tuple[Tool, ...]


Result = Judged | Unjudged | Discovered


def outcome_of(result: Result) -> Outcome:
    """How the job of *result* ended; a server that tells its tools has passed."""
    match result:
        case Judged(verdict=verdict):
            return verdict.outcome
        case Discovered():
            return Outcome.PASS
        case Unjudged():
            return Outcome.UNJUDGED
