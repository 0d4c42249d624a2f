from __future__ import annotations

from typing import Any

import pytest

from coordinator.osv.record import Rating
from coordinator.osv.severity import severity, worst

CRITICAL_3 = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"
MEDIUM_3 = "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N"
NONE_3 = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N"
CRITICAL_4 = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N"
HIGH_2 = "AV:N/AC:L/Au:N/C:P/I:P/A:P"


@pytest.mark.parametrize(
    ("ratings", "specific", "expected"),
    [
        ([("CVSS_V3", CRITICAL_3)], None, "critical"),
        ([("CVSS_V3", MEDIUM_3)], {"severity": "CRITICAL"}, "medium"),
        ([("CVSS_V3", MEDIUM_3), ("CVSS_V4", CRITICAL_4)], None, "critical"),
        ([("CVSS_V3", CRITICAL_3), ("CVSS_V3", MEDIUM_3), ("CVSS_V3", "?")], None, "critical"),
        ([("CVSS_V2", HIGH_2)], None, "high"),
        ([("CVSS_V3", NONE_3)], None, "low"),
        ([("CVSS_V3", "CVSS:3.1/AV:?")], {"severity": "MODERATE"}, "medium"),
        ([("CVSS_V3", "A" * 10_000)], {"severity": "HIGH"}, "high"),
        ([("CVSS_V9", "9.9")], {"severity": "LOW"}, "low"),
        ([], {"severity": ["HIGH"]}, "unknown"),
        ([], "HIGH", "unknown"),
        ([], None, "unknown"),
    ],
)
def test_severity_is_the_newest_vector_that_can_be_read(
    ratings: list[tuple[str, str]], specific: Any, expected: str
) -> None:
    """Else the word of the database, else unknown; never a guess."""
    assert severity([Rating(*one) for one in ratings], specific) == expected


def test_the_worst_is_the_worst_known() -> None:
    """What one database does not state, another may."""
    assert worst(["unknown", "low", "high", "medium"]) == "high"
    assert worst([]) == "unknown"
