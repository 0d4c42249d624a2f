"""The latencies of one skill in sentences: how fast, how sure, which parts, and what a load made of it."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.record import Latency
from workers.wire.percentiles import percentile


def sentences(latency: Latency) -> list[str]:
    """What is to be said of *latency*, without full stops; no text in it is the skill's."""
    return [
        f"Latency over {len(latency.samples)} sequential requests: p50 {latency.p50:.1f} ms, "
        f"p95 {latency.p95:.1f} ms, p99 {latency.p99:.1f} ms, ± {latency.uncertainty:.2f} ms",
        *_doubts(latency),
        *_parts(latency),
        *_load(latency),
    ]


def _doubts(latency: Latency) -> Iterator[str]:
    if latency.fallbacks:
        which = "All" if latency.fallbacks == len(latency.samples) else latency.fallbacks
        yield f"{which} of them read with the application's own clock"
    if latency.retaken:
        still = f", and in {latency.flagged} it still was" if latency.flagged else ""
        yield f"{latency.retaken} of them taken again because our machine was in the way{still}"
    elif latency.flagged:
        yield f"In {latency.flagged} of them our machine was in the way"


def _parts(latency: Latency) -> Iterator[str]:
    parts = [("until the first byte", latency.first_byte), ("to connect", latency.connect), ("for TLS", latency.tls)]
    told = [f"{percentile(times_ms, 0.50):.1f} ms {name}" for name, times_ms in parts if times_ms]
    if told:
        yield f"Usually {', '.join(told)}; the set-up is in no sample"


def _load(latency: Latency) -> Iterator[str]:
    if not latency.sustained:
        return
    p50, p95 = (percentile(latency.sustained, q) for q in (0.50, 0.95))
    times = f", {latency.degradation:.2f} times that of the quiet series" if latency.degradation else ""
    yield (
        f"Under sustained load {len(latency.sustained)} of {latency.sustained_planned} answered: "
        f"p50 {p50:.1f} ms, p95 {p95:.1f} ms{times}"
    )
