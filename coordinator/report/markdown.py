"""report.md: the run for people, in GitHub's Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from coordinator.certify import Decision, shown, thresholds
from coordinator.policy import Policy
from coordinator.record import Record
from coordinator.report import security, security_markdown
from coordinator.report.escape import cut, markdown
from coordinator.report.figures import MEASURES, measured, percent
from coordinator.report.latency import sentences
from coordinator.report.report import CertificationReport, EvaluationReport, Report
from coordinator.scorecard import Grade, Scorecard
from coordinator.tally import Finding
from workers.wire.job import Pillar
from workers.wire.result import Outcome

FILE = "report.md"
QUIET_OUTCOMES = frozenset({Outcome.PASS, Outcome.RESISTED, Outcome.NOT_APPLICABLE})
EVIDENCE_CHARS = 400
EMPTY = "The run was cut short before the first skill was done with."


def render(report: Report) -> Iterator[str]:
    """The report, line by line."""
    lines = _certification(report) if isinstance(report, CertificationReport) else _evaluation(report)
    for line in lines:
        yield line + "\n"


def _certification(report: CertificationReport) -> Iterator[str]:
    policy = report.policy
    counts: Counter[Decision] = Counter()
    last: Record | None = None
    rows = []
    for one in report.records():
        counts[one.verdict] += 1
        rows.append(_row(one, policy))
        last = one
    yield "# Certification report"
    yield ""
    if last is None:
        yield EMPTY if report.interrupted else "The catalog holds no skill."
        return
    yield f"{_total(counts)}. Run `{last.run_id}`."
    yield from _interrupted(report)
    yield ""
    yield "| skill | version | overall | band | functional | security | performance | p95 ms | verdict |"
    yield "|---|---|--:|---|--:|--:|--:|--:|---|"
    yield from rows
    for one in report.records():
        yield from _section(one, policy, report.requests(one))
    yield from _stamps(last)


def _evaluation(report: EvaluationReport) -> Iterator[str]:
    counts: Counter[Grade] = Counter()
    last: Scorecard | None = None
    rows = []
    for one in report.records():
        counts[one.verdict] += 1
        rows.append(_measured(one))
        last = one
    yield "# Evaluation report"
    yield ""
    if last is None:
        yield EMPTY if report.interrupted else "There was no skill to evaluate."
        return
    yield (
        f"{_total(counts)}. Run `{last.run_id}`. "
        f"A skill passes with a completion of {percent(last.stamps.min_completion)} or more."
    )
    yield from _interrupted(report)
    yield ""
    yield f"| skill | version | {' | '.join(MEASURES)} | verdict |"
    yield f"|---|---|{'--:|' * len(MEASURES)}---|"
    yield from rows
    for one in report.records():
        yield from _head(one)
        yield from _findings(one.findings)
    yield from _engine(last)
    yield from _benchmarks(last)


def _interrupted(report: Report) -> Iterator[str]:
    if report.interrupted:
        yield ""
        yield f"**The run was cut short**: some skills are missing. `--resume {report.run_id}` goes on with it."


def _total(counts: Counter[Decision] | Counter[Grade]) -> str:
    parts = [f"{count} {verdict.value.replace('_', ' ')}" for verdict, count in sorted(counts.items())]
    return f"{counts.total()} {'skill' if counts.total() == 1 else 'skills'}: " + ", ".join(parts)


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


def _measured(one: Scorecard) -> str:
    cells = [
        markdown(one.skill.name or one.skill.source),
        markdown(one.skill.version or "-"),
        *measured(one.measures),
        _verdict(one),
    ]
    return f"| {' | '.join(cells)} |"


def _verdict(one: Record | Scorecard) -> str:
    text = one.verdict.value.replace("_", " ")
    return f"**{text}**" if one.verdict in (Decision.CERTIFIED, Grade.PASSED) else text


def _head(one: Record | Scorecard) -> Iterator[str]:
    yield ""
    yield f"## {markdown(one.skill.name or one.skill.source)}"
    yield ""
    yield f"{_verdict(one)} · {markdown(one.skill.id or '-')} · {markdown(one.skill.source)}"
    if one.reasons:
        yield ""
    for reason in one.reasons:
        yield f"- {markdown(reason)}"


def _section(one: Record, policy: Policy, requests: Mapping[Pillar, int]) -> Iterator[str]:
    yield from _head(one)
    if one.pillars:
        yield ""
        yield "| pillar | score | live | static | coverage | requests |"
        yield "|---|--:|--:|--:|--:|--:|"
        for pillar in Pillar:
            line = one.pillars[pillar.value]
            score = shown(line.score, thresholds(pillar, policy))
            figures = f"{score} | {shown(line.live)} | {shown(line.static)} | {line.coverage:.2f}"
            yield f"| {pillar} | {figures} | {requests.get(pillar, 0)} |"
    if one.latency_ms:
        yield ""
        yield f"{'. '.join(sentences(one.latency_ms))}."
    attacked = security.section(one, requests)
    if attacked is not None:
        yield from security_markdown.lines(attacked)
    yield from _findings([finding for finding in one.findings if not security.is_attack(finding)])


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    notable = [finding for finding in findings if finding.outcome not in QUIET_OUTCOMES]
    if notable:
        yield ""
        yield "| probe | outcome | severity | evidence |"
        yield "|---|---|---|---|"
        for finding in notable:
            evidence = markdown(cut(finding.evidence, EVIDENCE_CHARS))
            yield f"| {markdown(finding.probe)} | {finding.outcome} | {finding.severity or '-'} | {evidence} |"
    quiet = Counter(finding.outcome for finding in findings if finding.outcome in QUIET_OUTCOMES)
    if quiet:
        counted = ", ".join(f"{count} {outcome.value.replace('_', ' ')}" for outcome, count in quiet.items())
        yield ""
        yield f"Also: {counted}."


def _stamps(one: Record) -> Iterator[str]:
    yield from _engine(one)
    yield f"- corpus `{one.stamps.corpus}`"
    if one.stamps.origin:
        yield f"- judged again from the answers of run `{one.stamps.origin}`, without a call"
    yield from _benchmarks(one)


def _engine(one: Record | Scorecard) -> Iterator[str]:
    yield ""
    yield "## Stamps"
    yield ""
    yield "The same engine, policy, tests and skill give the same verdict on the same evidence."
    yield ""
    yield f"- engine {one.stamps.engine}"
    yield f"- policy `{one.stamps.policy}`"


def _benchmarks(one: Record | Scorecard) -> Iterator[str]:
    for name, digest in sorted(one.stamps.benchmarks.items()):
        yield f"- benchmark {markdown(name)} `{digest}`"
