"""Stack traces are recognised by the places in files that they name, not by words."""

from __future__ import annotations

import json
import subprocess
import sys
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.stack_traces import SHOWN_CHARS, stack_trace


def test_pythons_own_is_found_plain_and_inside_json() -> None:
    """As the interpreter prints it, and as a framework returns it."""
    try:
        raise ValueError("x")
    except ValueError:
        printed = traceback.format_exc()

    assert "test_stack_traces.py" in (stack_trace(printed) or "")
    assert stack_trace(json.dumps({"detail": printed})) is not None


def test_an_uncaught_error_of_a_child_is_found() -> None:
    """What a crashed program leaves on its standard error."""
    child = subprocess.run([sys.executable, "-c", "import json; json.loads('{')"], capture_output=True, text=True)

    assert stack_trace(child.stderr) is not None


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: x is not a function\n    at handle (/srv/app/index.js:10:15)",
        "    at file:///srv/app/index.mjs:3:1",
        "java.lang.NullPointerException\n\tat com.example.Skill.answer(Skill.java:42)",
        "   at Example.Skill.Answer(String text) in C:\\app\\Skill.cs:line 12",
        "#0 /var/www/skill.php(31): answer()",
        "/srv/skill.rb:7:in `answer'",
        "panic: boom\n\ngoroutine 1 [running]:\nmain.main()",
    ],
)
def test_those_of_other_languages_are_found(text: str) -> None:
    """Each by the form in which it names a file, a line or a thread."""
    assert stack_trace(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last) is what Python prints before an error.",
        "An error at line 3 of your expression",
        "Meet me at the station (platform 4:10:15)",
        "See file report.txt, line 3",
        "#1 (31) of the hit parade",
        "the goroutine is a light thread",
    ],
)
def test_talk_of_errors_is_none(text: str) -> None:
    """An honest answer may quote the word."""
    assert stack_trace(text) is None


@given(st.text(max_size=2_000))
def test_any_text_is_searched_without_harm(text: str) -> None:
    """Nothing, or one short line of it."""
    found = stack_trace(text)

    assert found is None or (len(found) <= SHOWN_CHARS and "\n" not in found)
