from __future__ import annotations

from xml.etree import ElementTree

import msgspec
import pytest

from coordinator.certify import Decision
from coordinator.record import Record
from coordinator.report import junit
from coordinator.report.report import Report
from coordinator.tally import Finding
from tests.coordinator.report.test_renderers import REPORTS, hostile, report_of
from workers.wire.job import Pillar
from workers.wire.result import Outcome


def suites(report: Report) -> list[ElementTree.Element]:
    root = ElementTree.fromstring("".join(junit.render(report)))
    assert root.tag == "testsuites"
    return list(root)


def finding(outcome: Outcome, severity: str | None = None, **more: object) -> Finding:
    return Finding(
        probe="p", pillar=Pillar.SECURITY, category=None, severity=severity, outcome=outcome, score=None,
        evidence="why", **more,
    )  # fmt: skip


def one(verdict: Decision, *findings: Finding) -> Record:
    return msgspec.structs.replace(hostile(), verdict=verdict, findings=findings)


@pytest.mark.parametrize("report", REPORTS)
def test_hostile_text_is_text(report: Report) -> None:
    """The document parses, and holds no element of a skill."""
    (suite,) = suites(report)

    assert {element.tag for element in suite.iter()} <= {
        "testsuite", "testcase", "failure", "error", "skipped", "system-out",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [
        (Decision.CERTIFIED, None),
        (Decision.NOT_CERTIFIED, "failure"),
        (Decision.REJECTED, "failure"),
        (Decision.INCOMPLETE, "error"),
    ],
)
def test_first_case_is_the_verdict(verdict: Decision, tag: str | None) -> None:
    """Incomplete is an error of the run, not a failure of the skill."""
    (suite,) = suites(report_of(one(verdict)))

    case = suite[0]
    assert case.get("name") == "verdict"
    assert [child.tag for child in case] == ([tag] if tag else [])


@pytest.mark.parametrize(
    ("outcome", "tag"),
    [
        (Outcome.RESISTED, None), (Outcome.PASS, None), (Outcome.EXPLOITED, "failure"), (Outcome.SUSPECT, "failure"),
        (Outcome.PARTIAL, "failure"), (Outcome.TIMEOUT, "failure"), (Outcome.UNJUDGED, "skipped"),
        (Outcome.INCONCLUSIVE, "skipped"), (Outcome.NOT_APPLICABLE, "skipped"),
    ],
)  # fmt: skip
def test_probe_is_a_case_with_its_outcome(outcome: Outcome, tag: str | None) -> None:
    """What could not be judged is skipped, and the suite counts its cases."""
    (suite,) = suites(report_of(one(Decision.CERTIFIED, finding(outcome))))

    assert [child.tag for child in suite[1]] == ([tag] if tag else [])
    counts = {name: int(suite.get(name, "")) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": 2, "failures": tag == "failure", "errors": 0, "skipped": tag == "skipped"}


def test_lesser_gaps_of_a_certified_skill_fail_nothing() -> None:
    """They are told in the output; a hole of high severity fails."""
    nit = finding(Outcome.FAIL, "low", location="/inputs/0", points=3.0)
    hole = finding(Outcome.FAIL, "high", location="src/a.py:1", points=30.0)

    (quiet,) = suites(report_of(one(Decision.CERTIFIED, nit)))
    (failing,) = suites(report_of(one(Decision.CERTIFIED, nit, hole)))

    assert (quiet.get("failures"), quiet.findtext("testcase/system-out")) == ("0", "why")
    assert failing.get("failures") == "1"
