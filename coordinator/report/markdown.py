"""report.md: the run for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from coordinator.certify import Decision, shown, thresholds
from coordinator.policy import Policy
from coordinator.record import Record
from coordinator.report.escape import markdown
from workers.wire.job import Pillar
from workers.wire.result import Outcome

NAME = "report.md"
QUIET_OUTCOMES = frozenset({Outcome.PASS, Outcome.RESISTED, Outcome.NOT_APPLICABLE})
EVIDENCE_CHARS = 400


def write(folder: Path, records: Callable[[], Iterable[Record]], policy: Policy) -> Path:
    """Write ``report.md`` to *folder*. *records* is called twice: a large catalog is never held in memory."""
    path = folder / NAME
    with path.open("w", encoding="utf-8") as file:
        for line in render(records, policy):
            file.write(line + "\n")
    return path


def render(records: Callable[[], Iterable[Record]], policy: Policy) -> Iterator[str]:
    """The lines of the report."""
    counts: Counter[Decision] = Counter()
    last: Record | None = None
    rows = []
    for one in records():
        counts[one.verdict] += 1
        rows.append(_row(one, policy))
        last = one
    yield "# Certification report"
    yield ""
    if last is None:
        yield "The catalog holds no skill."
        return
    yield f"{_total(counts)}. Run `{last.run_id}`."
    yield ""
    yield "| skill | version | overall | band | functional | security | performance | p95 ms | verdict |"
    yield "|---|---|--:|---|--:|--:|--:|--:|---|"
    yield from rows
    for one in records():
        yield from _section(one, policy)
    yield from _stamps(last)


def _total(counts: Counter[Decision]) -> str:
    parts = [f"{counts[verdict]} {verdict.value.replace('_', ' ')}" for verdict in Decision if counts[verdict]]
    return f"{sum(counts.values())} skills: " + ", ".join(parts)


def _row(one: Record, policy: Policy) -> str:
    pillars = [(pillar, one.pillars.get(pillar.value)) for pillar in Pillar]
    cells = [
        markdown(one.skill.name or one.skill.source),
        markdown(one.skill.version or "-"),
        shown(one.overall, thresholds(None, policy)),
        one.band or "-",
        *(shown(line.score if line else None, thresholds(pillar, policy)) for pillar, line in pillars),
        f"{one.latency_ms.p95:.1f}" if one.latency_ms else "-",
        _verdict(one),
    ]
    return f"| {' | '.join(cells)} |"


def _verdict(one: Record) -> str:
    text = one.verdict.value.replace("_", " ")
    return f"**{text}**" if one.verdict is Decision.CERTIFIED else text


def _section(one: Record, policy: Policy) -> Iterator[str]:
    yield ""
    yield f"## {markdown(one.skill.name or one.skill.source)}"
    yield ""
    yield f"{_verdict(one)} · {markdown(one.skill.id or '-')} · {markdown(one.skill.source)}"
    yield ""
    for reason in one.reasons:
        yield f"- {markdown(reason)}"
    if one.pillars:
        yield ""
        yield "| pillar | score | live | static | coverage |"
        yield "|---|--:|--:|--:|--:|"
        for pillar in Pillar:
            line = one.pillars[pillar.value]
            score = shown(line.score, thresholds(pillar, policy))
            yield f"| {pillar} | {score} | {shown(line.live)} | {shown(line.static)} | {line.coverage:.2f} |"
    if one.latency_ms:
        latency = one.latency_ms
        yield ""
        yield (
            f"Latency over {len(latency.samples)} sequential requests: p50 {latency.p50:.1f} ms, "
            f"p95 {latency.p95:.1f} ms, p99 {latency.p99:.1f} ms, ± {latency.uncertainty:.2f} ms."
        )
    notable = [finding for finding in one.findings if finding.outcome not in QUIET_OUTCOMES]
    if notable:
        yield ""
        yield "| probe | outcome | severity | evidence |"
        yield "|---|---|---|---|"
        for finding in notable:
            evidence = markdown(finding.evidence[:EVIDENCE_CHARS]) + (
                "…" if len(finding.evidence) > EVIDENCE_CHARS else ""
            )
            yield f"| {markdown(finding.probe)} | {finding.outcome} | {finding.severity or '-'} | {evidence} |"
    passed = Counter(finding.outcome for finding in one.findings if finding.outcome in QUIET_OUTCOMES)
    if passed:
        yield ""
        yield (
            "Also: "
            + ", ".join(f"{count} {outcome.value.replace('_', ' ')}" for outcome, count in passed.items())
            + "."
        )


def _stamps(one: Record) -> Iterator[str]:
    yield ""
    yield "## Stamps"
    yield ""
    yield "The same policy, corpus, benchmarks and engine give the same verdict on the same evidence."
    yield ""
    yield f"- engine {one.stamps.engine}"
    yield f"- policy `{one.stamps.policy}`"
    yield f"- corpus `{one.stamps.corpus}`"
    for name, digest in sorted(one.stamps.benchmarks.items()):
        yield f"- benchmark {markdown(name)} `{digest}`"
