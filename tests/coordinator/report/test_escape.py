from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.report.escape import cut, markdown, spreadsheet, terminal


def test_terminal_escapes_are_spelt_out() -> None:
    """A skill cannot move the cursor, set the title or turn the text around."""
    assert terminal("a\x1b[2Jb\x07\u202ec\n") == r"a\x1b[2Jb\x07\u202ec\n"


def test_markdown_markup_is_literal() -> None:
    """Neither HTML nor links nor table cells nor emphasis of a skill reach the report."""
    found = markdown("<script>|[x](http://evil)|**b** _c_ www.evil.example")

    assert found == r"\<script\>\|\[x\](http&#58;//evil)\|\*\*b\*\* \_c\_ www&#46;evil.example"


def test_names_with_underscores_stay_readable() -> None:
    """An underscore inside a word emphasises nothing and is left alone."""
    assert markdown("test_case/add_two") == "test_case/add_two"


@given(st.text())
def test_what_is_shown_is_one_printable_line(text: str) -> None:
    """No control, format or separator character is left, whatever was put in."""
    for shown in (terminal(text), markdown(text)):
        assert all(unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for char in shown)


@given(st.text())
def test_no_markup_character_stands_alone(text: str) -> None:
    """Every character that opens markup inside a line is escaped."""
    shown = markdown(text)

    for index, char in enumerate(shown):
        if char in "<>|[]*`":
            assert shown[index - 1] == "\\"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", " =1", '"=1', "\uff1d1", "|calc", "%0a=1", "'=1"]
)
def test_a_cell_is_never_a_formula(text: str) -> None:
    """Whatever a spreadsheet would take for the beginning of a formula stands behind an apostrophe."""
    assert spreadsheet(text).startswith("'")


@pytest.mark.parametrize("text", ["plain", "1.2.0", "a=b", "\t=1", "\r\n=1"])
def test_other_cells_are_shown_as_they_are(text: str) -> None:
    """A control character is spelt, so it hides no sign behind it."""
    assert spreadsheet(text) == terminal(text)


def test_what_is_cut_says_so() -> None:
    """A text that is short enough is whole, a longer one ends with an ellipsis within the length."""
    assert [cut("abcd", 4), cut("abcde", 4)] == ["abcd", "abc…"]
