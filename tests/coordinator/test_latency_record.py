"""The latencies of results.jsonl, and what the reports say of them."""

from __future__ import annotations

import msgspec

from coordinator import record
from coordinator.certify import Certificate, Decision, Mode
from coordinator.record import Header, Latency, Stamps
from coordinator.report.latency import sentences
from tests.coordinator.evidence import series
from tests.coordinator.skills import skill, text
from workers.wire.result import Series

HEADER = Header(run_id="r", mode=Mode.LIVE, stamps=Stamps(engine="0", policy="p", corpus="c", benchmarks={}))
QUICK = Latency(p50=1.0, p95=2.0, p99=3.0, samples=(1.0, 3.0), uncertainty=0.25)


def latency(quiet: Series | None, sustained: Series | None = None) -> Latency | None:
    """What a record says, after its way through results.jsonl and back."""
    certificate = Certificate(verdict=Decision.CERTIFIED, overall=100.0, band="Exceptional", reasons=())
    found = record.judged(skill(text()), certificate, {}, HEADER, quiet=quiet, sustained=sustained)
    return record.parse(record.line(found)).latency_ms


def test_the_parts_of_a_request_are_told_apart() -> None:
    """Connection, TLS and time to first byte have figures of their own, and none where there is nothing to tell."""
    quiet = msgspec.structs.replace(
        series([4.0, 5.0]), first_byte_ms=(3.0, 4.5), connect_ms=(0.5,), lag_ms=(1.0, 12.0), tries=(1, 3), flagged=1
    )

    found = latency(quiet)

    assert found is not None
    assert (found.first_byte, found.connect, found.tls) == ((3.0, 4.5), (0.5,), ())
    assert (found.fallbacks, found.lag, found.retaken, found.flagged) == (0, (1.0, 12.0), 1, 1)


def test_the_load_is_compared_with_the_quiet_series() -> None:
    """The degradation is the ratio of the two p95; the load's failures are counted."""
    found = latency(series([4.0, 5.0]), series([6.0, 20.0], planned=3))

    assert found is not None
    assert (found.sustained, found.sustained_planned, found.degradation) == ((6.0, 20.0), 3, 4.0)


def test_a_skill_that_was_not_loaded_has_no_degradation() -> None:
    """No load is not the same as a load that changed nothing."""
    found = latency(series([4.0]))

    assert found is not None
    assert (found.sustained, found.sustained_planned, found.degradation) == ((), 0, msgspec.UNSET)


def test_a_series_without_the_kernel_counts_every_sample() -> None:
    """Where the application's clock read everything, all samples are told to be its readings."""
    found = latency(msgspec.structs.replace(series([4.0, 5.0]), clock="monotonic"))

    assert found is not None
    assert found.fallbacks == 2


def test_without_answers_there_are_no_latencies() -> None:
    """A skill that never answered has no latency, and one that broke down under load no latency there."""
    dead = latency(series([], planned=20), series([1.0]))
    broken = latency(series([1.0]), series([], planned=20))

    assert dead is None
    assert broken is not None
    assert (broken.sustained, broken.sustained_planned) == ((), 20)


def test_a_sure_series_is_told_in_one_sentence() -> None:
    """Nothing is said of doubts, parts or loads that do not exist."""
    told = sentences(QUICK)

    assert told == ["Latency over 2 sequential requests: p50 1.0 ms, p95 2.0 ms, p99 3.0 ms, ± 0.25 ms"]


def test_doubts_parts_and_load_are_told() -> None:
    """Whose clock it was, what was taken again, which parts a request has, and what the load did."""
    told = sentences(
        msgspec.structs.replace(
            QUICK,
            fallbacks=1,
            retaken=2,
            flagged=1,
            connect=(0.5,),
            tls=(2.0,),
            first_byte=(0.9, 2.5),
            sustained=(2.0, 4.0),
            sustained_planned=3,
            degradation=2.0,
        )
    )

    assert told[1:] == [
        "1 of them read with the application's own clock",
        "2 of them taken again because our machine was in the way, and in 1 it still was",
        "Usually 0.9 ms until the first byte, 0.5 ms to connect, 2.0 ms for TLS; the set-up is in no sample",
        "Under sustained load 2 of 3 answered: p50 2.0 ms, p95 4.0 ms, 2.00 times that of the quiet series",
    ]


def test_a_series_without_the_kernel_says_so() -> None:
    """The application's own clock is named where it read everything."""
    told = sentences(msgspec.structs.replace(QUICK, fallbacks=2))

    assert told[1] == "All of them read with the application's own clock"
