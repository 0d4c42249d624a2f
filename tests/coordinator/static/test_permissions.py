from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.catalog.skill import Skill
from coordinator.static.evidence import Checked, Inapplicable
from coordinator.static.permissions import examine
from tests.coordinator.static.context import CONTEXT
from workers.wire.result import Outcome


def checked(*permissions: str, format_: str = "sxm", stated: bool = True) -> Checked | Inapplicable:
    skill = Skill(
        id="s", name="s", version="1.0.0", digest="d", format=format_, source="s.json", permissions=permissions,
        stated=("permissions",) if stated else (),
    )  # fmt: skip
    found = examine(skill, CONTEXT)
    assert isinstance(found, Checked | Inapplicable)
    return found


def told(permission: str) -> tuple[str, str | None] | None:
    found = checked(permission)
    assert isinstance(found, Checked)
    (one,) = found.deductions or (None,)
    assert one is None or one.field == "/permissions/0"
    return one and (one.rule.removeprefix("permissions/"), one.severity)


@pytest.mark.parametrize(
    "permission",
    [
        "network:api.example.com", "https://api.example.com/v1", "env:WEATHER_TOKEN", "filesystem:/srv/reports",
        "filesystem:read:/srv/reports", "read:./data", "network:none", "filesystem:none", "calendar", "camera:front",
        "Read(docs/**)", "WebFetch(domain:example.com)", "none",
    ],
)  # fmt: skip
def test_narrow_permission_costs_nothing(permission: str) -> None:
    """One host, one folder, one variable; and what nobody can say the breadth of."""
    assert told(permission) is None


@pytest.mark.parametrize(
    ("permission", "rule", "severity"),
    [
        ("*", "everything", "high"),
        ("all", "everything", "high"),
        ("Full access", "everything", "high"),
        ("root", "everything", "high"),
        ("shell", "shell", "high"),
        ("Bash", "shell", "high"),
        ("Bash(*)", "shell", "high"),
        ("subprocess:/bin/sh -c", "shell", "high"),
        ("process:python3", "shell", "high"),
        ("Bash(git status:*)", "process", "low"),
        ("process:/usr/bin/ffmpeg", "process", "low"),
        ("filesystem", "whole-file-system", "high"),
        ("filesystem:/", "whole-file-system", "high"),
        ("filesystem:write:~", "whole-file-system", "high"),
        ("fs:*", "whole-file-system", "high"),
        ("filesystem:C:\\", "whole-file-system", "high"),
        ("filesystem:read:/", "whole-file-system", "medium"),
        ("filesystem:read", "whole-file-system", "medium"),
        ("Read", "whole-file-system", "low"),
        ("network:*", "any-host", "medium"),
        ("network", "any-host", "medium"),
        ("internet access", "any-host", "medium"),
        ("network:*.example.com", "wildcard-host", "low"),
        ("network:*.com", "wildcard-host", "medium"),
        ("network:10.0.0.0/8", "wildcard-host", "medium"),
        ("network:169.254.169.254", "cloud-metadata", "high"),
        ("env:*", "whole-environment", "medium"),
        ("environment", "whole-environment", "medium"),
        ("eval", "dynamic-code", "medium"),
    ],
)
def test_broad_permission_costs_points(permission: str, rule: str, severity: str) -> None:
    """A wildcard, a shell, a whole file system: each by how much it gives away."""
    assert told(permission) == (rule, severity)


def test_an_empty_list_is_a_statement_and_none_is_not() -> None:
    """Unstated permissions earn nothing where the format has a place for them, and count nowhere where it has not."""
    stated, unstated = checked(), checked(stated=False)

    assert stated == Checked()
    assert isinstance(unstated, Checked)
    assert (unstated.score, unstated.deductions[0].outcome) == (0, Outcome.INCONCLUSIVE)
    assert isinstance(checked(format_="eval_skills", stated=False), Inapplicable)


def test_tools_of_an_agent_skill_are_its_permissions() -> None:
    """A format without permissions of its own is still held to those that it gives."""
    found = checked("Bash", format_="agent_skill", stated=False)

    assert isinstance(found, Checked)
    assert found.score == 69


@given(st.lists(st.text(max_size=60), max_size=20))
def test_any_text_is_read(permissions: list[str]) -> None:
    """Whatever a stranger writes, there is a score, twice the same."""
    once, twice = checked(*permissions), checked(*permissions)

    assert once == twice
    assert isinstance(once, Checked)
    assert 0 <= once.score <= 100
