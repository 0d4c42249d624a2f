from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.catalog.skill import FailureMode, Skill
from coordinator.static.evidence import Checked, Inapplicable
from coordinator.static.failure_modes import examine
from tests.coordinator.static.context import CONTEXT

ALL = {"timeout", "rate-limit", "overload", "bad-input"}


def checked(*modes: tuple[str, str], timeout_ms: int | None = None, rate: float | None = None) -> Checked:
    skill = Skill(
        id="s",
        name="s",
        version="1.0.0",
        digest="d",
        format="sxm",
        source="s.json",
        timeout_ms=timeout_ms,
        max_requests_per_second=rate,
        failure_modes=tuple(FailureMode(condition=condition, behaviour=behaviour) for condition, behaviour in modes),
    )
    found = examine(skill, CONTEXT)
    assert isinstance(found, Checked)
    return found


def unsaid(found: Checked) -> set[str]:
    return {one.rule.removeprefix("failure-modes/") for one in found.deductions}


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        ("The answer takes longer than the declared time limit", "timeout"),
        ("Upstream times out", "timeout"),
        ("Timeout", "timeout"),
        ("More than 10 requests per second", "rate-limit"),
        ("Rate limit exceeded", "rate-limit"),
        ("Monthly quota is used up", "rate-limit"),
        ("The server is stopping or overloaded", "overload"),
        ("The weather API is down", "overload"),
        ("Service unavailable", "overload"),
        ("The text is blank, or longer than 20000 characters", "bad-input"),
        ("An input is missing, unknown or of the wrong type", "bad-input"),
        ("The country is not in the list", "bad-input"),
        ("Malformed JSON", "bad-input"),
    ],
)
def test_declared_mode_answers_its_question(condition: str, kind: str) -> None:
    """In the words that publishers use."""
    assert kind not in unsaid(checked((condition, "answers with an error")))


def test_all_four_with_a_behaviour_lose_nothing() -> None:
    """Each is worth a quarter."""
    modes = [("timeout", "504"), ("rate limit", "429"), ("overload", "503, try again"), ("invalid input", "400")]

    assert checked(*modes) == Checked()
    assert checked(*modes[:3]).score == 75
    assert checked().score == 0
    assert unsaid(checked()) == ALL


def test_a_limit_without_a_behaviour_is_worth_half() -> None:
    """A figure says when, but not what happens then; neither does a bare condition."""
    assert checked(timeout_ms=5000).score == 12.5
    assert checked(timeout_ms=5000, rate=2.0).score == 25
    assert checked(("rate limit", "")).score == 12.5


def test_upstream_that_does_not_answer_is_no_bad_input() -> None:
    """A time-out in other words does not count twice."""
    assert "bad-input" in unsaid(checked(("The upstream does not answer", "504")))


def test_format_without_failure_modes_is_not_blamed() -> None:
    """An MCP server has no place to declare them."""
    skill = Skill(id="s", name="s", version="1", digest="d", format="mcp_registry", source="s")

    assert isinstance(examine(skill, CONTEXT), Inapplicable)


@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=80)), max_size=10))
def test_any_text_is_read(modes: list[tuple[str, str]]) -> None:
    """Whatever a stranger writes."""
    assert 0 <= checked(*modes).score <= 100
