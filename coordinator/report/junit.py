"""junit.xml: the run as test suites, one a skill, for the test pages of a CI server.

The first test case of a suite is the verdict. Then come the probes with what they found. What a static check took
points for fails only where it is of high or critical severity; lesser gaps are told in the output of the verdict, so
that a certified skill is not shown as broken for a missing example. What could not be judged is skipped; a verdict of
`incomplete` is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from msgspec import UNSET

from coordinator.record import Record
from coordinator.report.escape import cut, terminal
from coordinator.report.report import Report
from coordinator.scorecard import Scorecard
from coordinator.tally import Finding
from workers.wire.result import Outcome

FILE = "junit.xml"
MESSAGE_CHARS = 1_000
PASSED = frozenset({Outcome.PASS, Outcome.RESISTED})
SKIPPED = frozenset({Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE, Outcome.UNJUDGED})
GOOD = frozenset({"certified", "passed"})


def render(report: Report) -> Iterator[str]:
    """The suites in the catalog's order."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites name={_quoted(f'skillmark {report.run_id}')}>\n"
    for one in report.records():
        yield from _suite(one)
    yield "</testsuites>\n"


def _suite(one: Record | Scorecard) -> Iterator[str]:
    name = one.skill.id or one.skill.source
    cases = [_verdict(one, name)]
    cases += [_case(f"{name}.{finding.pillar}", finding.probe, *_outcome(finding)) for finding in _shown(one)]
    counts = {tag: sum(f"<{tag} " in case for case in cases) for tag in ("failure", "error", "skipped")}
    yield (
        f'<testsuite name={_quoted(name)} tests="{len(cases)}" failures="{counts["failure"]}" '
        f'errors="{counts["error"]}" skipped="{counts["skipped"]}">\n'
    )
    yield from cases
    yield "</testsuite>\n"


def _shown(one: Record | Scorecard) -> Iterator[Finding]:
    """The findings that are test cases of their own."""
    for finding in one.findings:
        if finding.location is UNSET or finding.severity in ("high", "critical"):
            yield finding


def _verdict(one: Record | Scorecard, name: str) -> str:
    verdict = one.verdict.value
    tag = "" if verdict in GOOD else "error" if verdict == "incomplete" else "failure"
    why = "; ".join(one.reasons)
    gaps = [finding.evidence for finding in one.findings if finding.location is not UNSET]
    return _case(name, "verdict", tag, verdict, why, output="\n".join(gaps))


def _outcome(finding: Finding) -> tuple[str, str, str]:
    if finding.outcome in PASSED:
        return "", "", ""
    return "skipped" if finding.outcome in SKIPPED else "failure", finding.outcome.value, finding.evidence


def _case(classname: str, name: str, tag: str, kind: str, message: str, output: str = "") -> str:
    head = f"<testcase classname={_quoted(classname)} name={_quoted(name)}"
    inner = ""
    if tag:
        attributes = f"message={_quoted(message)}" + ("" if tag == "skipped" else f" type={_quoted(kind)}")
        inner += f"  <{tag} {attributes}/>\n"
    if output:
        told = "\n".join(escape(terminal(cut(line, MESSAGE_CHARS))) for line in output.split("\n"))
        inner += f"  <system-out>{told}</system-out>\n"
    return f"{head}>\n{inner}</testcase>\n" if inner else f"{head}/>\n"


def _quoted(text: str) -> str:
    return quoteattr(cut(terminal(text), MESSAGE_CHARS))
