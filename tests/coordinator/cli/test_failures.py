from __future__ import annotations

import pytest

from coordinator.certify import Decision
from coordinator.cli._failures import exit_code
from coordinator.scorecard import Grade

CERTIFIED, NOT, REJECTED = Decision.CERTIFIED, Decision.NOT_CERTIFIED, Decision.REJECTED


@pytest.mark.parametrize(
    ("verdicts", "passed", "gates", "code"),
    [
        ([CERTIFIED, NOT], CERTIFIED, {}, 0),
        ([CERTIFIED, NOT], CERTIFIED, {"exit_on_fail": True}, 1),
        ([CERTIFIED], CERTIFIED, {"exit_on_fail": True}, 0),
        ([CERTIFIED, REJECTED], CERTIFIED, {}, 4),
        ([Decision.INCOMPLETE], CERTIFIED, {}, 4),
        ([REJECTED], CERTIFIED, {"exit_on_fail": True}, 1),
        ([NOT], CERTIFIED, {"fail_under": 70.0, "lowest": 69.9}, 1),
        ([NOT], CERTIFIED, {"fail_under": 70.0, "lowest": 70.0}, 0),
        ([REJECTED], CERTIFIED, {"fail_under": 70.0, "lowest": None}, 4),
        ([NOT], CERTIFIED, {"exit_on_fail": True, "interrupted": True}, 130),
        ([Grade.PASSED, Grade.FAILED], Grade.PASSED, {}, 0),
        ([Grade.PASSED, Grade.FAILED], Grade.PASSED, {"exit_on_fail": True}, 1),
        ([Grade.PASSED, Grade.INCOMPLETE], Grade.PASSED, {}, 4),
    ],
)
def test_the_exit_code_tells_how_the_run_ended(
    verdicts: list[str], passed: str, gates: dict[str, bool | float | None], code: int
) -> None:
    """Cut short before a failed gate, a failed gate before incomplete skills."""
    told = exit_code(verdicts, passed=passed, **{"interrupted": False, "exit_on_fail": False, **gates})

    assert told == code
