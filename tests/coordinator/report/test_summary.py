from __future__ import annotations

import msgspec
import pytest

from coordinator.certify import Decision
from coordinator.record import Record
from coordinator.report import summary
from coordinator.report.report import Report
from tests.coordinator.report.test_renderers import REPORTS, hostile, report_of


def shown(report: Report) -> list[str]:
    return "".join(summary.render(report)).splitlines()


def one(verdict: Decision, name: str = "x") -> Record:
    skill = msgspec.structs.replace(hostile().skill, name=name)
    return msgspec.structs.replace(hostile(), verdict=verdict, skill=skill)


@pytest.mark.parametrize("report", REPORTS)
def test_hostile_text_stays_in_its_cell(report: Report) -> None:
    """No HTML, no heading, no link, no further cell."""
    lines = shown(report)

    assert not any("<img" in line.replace(r"\<img", "") for line in lines)
    assert not any("](http://" in line for line in lines)
    assert [line for line in lines if line.startswith("#")] == [lines[0]]
    assert lines[-1].replace(r"\|", "").count("|") == 9


def test_those_that_need_attention_come_first() -> None:
    """Certified skills last."""
    report = report_of(one(Decision.CERTIFIED, "a"), one(Decision.REJECTED, "b"), one(Decision.NOT_CERTIFIED, "c"))

    lines = shown(report)

    assert lines[0] == "### skillmark: 1 not certified, 1 rejected, 1 certified"
    assert [line.split(" | ")[1] for line in lines[4:]] == ["c", "b", "a"]


def test_a_large_catalog_makes_a_short_page() -> None:
    """At most fifty rows; the rest is counted."""
    lines = shown(report_of(*[one(Decision.NOT_CERTIFIED)] * 70))

    assert sum(line.startswith("| ❌") for line in lines) == 50
    assert lines[-1] == "And 20 more."


def test_an_empty_run_says_so() -> None:
    """Cut short or not."""
    assert shown(report_of()) == ["### skillmark: no skill", ""]
    assert "--resume run" in shown(report_of(interrupted=True))[2]
