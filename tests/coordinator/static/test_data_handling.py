from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.catalog.skill import Skill
from coordinator.static.data_handling import examine
from coordinator.static.evidence import Checked, Inapplicable
from tests.coordinator.static.context import CONTEXT
from workers.wire.result import Outcome


def checked(text: str, *permissions: str, format_: str = "sxm") -> Checked | Inapplicable:
    skill = Skill(
        id="s", name="s", version="1.0.0", digest="d", format=format_, source="s.json", data_handling=text,
        permissions=permissions,
    )  # fmt: skip
    found = examine(skill, CONTEXT)
    assert isinstance(found, Checked | Inapplicable)
    return found


def missing(text: str) -> set[str]:
    found = checked(text)
    assert isinstance(found, Checked)
    return {one.rule.removeprefix("data-handling/") for one in found.deductions}


@pytest.mark.parametrize(
    "text",
    [
        "Inputs are used for this one answer and then discarded: nothing is stored, logged or passed on.",
        "Queries are logged for 30 days and read by our support team.",
        "We do not store or share anything you send.",
        "Stateless. Data stays on the device.",
        "Uploaded files are kept until the session ends, are never sent to third parties.",
        "The text is forwarded to the model provider, which retains it for 30 days.",
    ],
)
def test_text_that_answers_all_three_questions_loses_nothing(text: str) -> None:
    """Frank or strict: what the answers are costs nothing."""
    assert missing(text) == set()


@pytest.mark.parametrize(
    ("text", "unsaid"),
    [
        ("The contract does not leave the customer's network.", {"what-is-stored", "how-long-it-is-kept"}),
        ("Inputs are logged and shared with partners.", {"how-long-it-is-kept"}),
        ("Nothing is stored.", {"who-sees-it"}),
        ("We take your privacy seriously.", {"what-is-stored", "how-long-it-is-kept", "who-sees-it"}),
        ("GDPR compliant.", {"what-is-stored", "how-long-it-is-kept", "who-sees-it"}),
    ],
)
def test_unanswered_question_is_named(text: str, unsaid: set[str]) -> None:
    """Well-meant words that answer nothing earn nothing."""
    assert missing(text) == unsaid


def test_silence_earns_nothing() -> None:
    """It is no finding against the skill, and counts nowhere in a format without a place for it."""
    found = checked(" ")

    assert isinstance(found, Checked)
    assert (found.score, found.deductions[0].outcome) == (0, Outcome.INCONCLUSIVE)
    assert isinstance(checked("", format_="mcp_registry"), Inapplicable)


def test_permission_to_write_contradicts_that_nothing_is_stored() -> None:
    """Unless it is for something temporary, or the skill says that it stores."""
    claim = "Nothing is stored or shared."

    (found,) = checked(claim, "network:example.com", "filesystem:write:/srv/data").deductions  # type: ignore[union-attr]

    assert (found.rule, found.field, found.severity) == ("data-handling/contradicted", "/permissions/1", "low")
    assert checked(claim, "filesystem:write:/tmp/render") == Checked()
    assert checked("Notes are kept for a year, seen by nobody else.", "filesystem:/srv/notes") == Checked()


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    """Whatever a stranger writes."""
    found = checked(text)

    assert isinstance(found, Checked)
    assert 0 <= found.score <= 100
