"""``regex``: the share of the patterns that match, in linear time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.evaluators import regex
from workers.faults import BadExpectation


def score(patterns: list[str], reply: Any) -> float:
    return regex.prepare({"type": "regex", "patterns": patterns}, {})(reply).value


@pytest.mark.parametrize(
    ("patterns", "reply", "expected"),
    [
        ([r"\d{4}"], "in 2024", 1.0),
        ([r"^\d{4}$"], "in 2024", 0.0),
        ([r"\d", "[a-z]"], "1", 0.5),
        ([r"^4\.5$"], {"result": 4.5}, 1.0),
        (["(?i)HELLO"], "hello", 1.0),
        (["ü$"], "fünf, fü", 1.0),
        ([r"\x00"], "a\x00b", 1.0),
    ],
)
def test_the_score_is_matched_by_total(patterns: list[str], reply: Any, expected: float) -> None:
    """Patterns are searched for in the text of the answer."""
    assert score(patterns, reply) == expected


def test_a_pattern_that_hangs_a_backtracking_engine_is_answered() -> None:
    """The time is linear in the answer, whatever the pattern."""
    assert score([r"^(a+)+$", r"(x+x+)+y"], "a" * 100_000 + "!" + "x" * 100_000) == 0.0


@given(pattern=st.text(min_size=1, max_size=30), reply=st.text() | st.integers() | st.none())
def test_a_pattern_is_refused_or_works(pattern: str, reply: Any) -> None:
    """No text whatever, taken as a pattern, makes anything else than a refusal or a score."""
    try:
        evaluate = regex.prepare({"patterns": [pattern]}, {})
    except BadExpectation:
        return

    assert evaluate(reply).value in (0.0, 1.0)


@given(text=st.text(alphabet=st.characters(codec=None)))
def test_an_answer_with_lone_surrogates_is_no_crash(text: str) -> None:
    """Texts that UTF-8 cannot hold are searched all the same."""
    assert score([r"(?s)^.*$"], text) == 1.0


@pytest.mark.parametrize(
    ("expected", "options", "pointer"),
    [
        ({"patterns": []}, {}, "/expected/patterns"),
        ({"patterns": ["a", "("]}, {}, "/expected/patterns/1"),
        ({"patterns": [r"(?=a)b"]}, {}, "/expected/patterns/0"),
        ({"patterns": [r"(a)\1"]}, {}, "/expected/patterns/0"),
        ({"patterns": [r"((a{100}){100}){100}"]}, {}, "/expected/patterns/0"),
        ({"patterns": [r"(\pL{900}){900}"]}, {}, "/expected/patterns/0"),
        ({"patterns": ["a" * 2_001]}, {}, "/expected/patterns/0"),
        ({"patterns": ["\ud800"]}, {}, "/expected/patterns/0"),
        ({"patterns": ["a"]}, {"flags": "i"}, "/options/flags"),
    ],
)
def test_a_faulty_expectation_is_refused(expected: Any, options: Any, pointer: str) -> None:
    """Patterns that are invalid, too large, or beyond RE2 are the benchmark's fault."""
    with pytest.raises(BadExpectation) as caught:
        regex.prepare(expected, options)

    assert caught.value.pointer == pointer
