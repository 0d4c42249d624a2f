"""``contains``: the share of the keywords that stand in the answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.evaluators import contains
from workers.faults import BadExpectation


def score(keywords: list[str], reply: Any, **options: Any) -> float:
    return contains.prepare({"type": "contains", "keywords": keywords}, options)(reply).value


@pytest.mark.parametrize(
    ("keywords", "reply", "expected"),
    [
        (["red", "green"], "Red and GREEN", 1.0),
        (["red", "blue"], "red", 0.5),
        (["blue"], "red", 0.0),
        (["42"], {"result": 42}, 1.0),
        (["é"], ["É"], 1.0),
        (["strasse"], "STRASSE und Straße", 1.0),
        (['"a":1'], {"a": 1}, 1.0),
        (["null"], None, 1.0),
        (["a b"], "a  b", 0.0),
    ],
)
def test_the_score_is_matched_by_total(keywords: list[str], reply: Any, expected: float) -> None:
    """Keywords are looked for as given in the text of the answer, upper and lower case alike."""
    assert score(keywords, reply) == expected


def test_case_counts_where_the_task_says_so() -> None:
    """The option is honoured per task."""
    assert score(["Red"], "red", caseSensitive=True) == 0.0
    assert score(["Red"], "Red", caseSensitive=True) == 1.0


def test_evidence_names_what_is_missing() -> None:
    """An author reads which keyword was not found."""
    found = contains.prepare({"keywords": ["red", "blue"]}, {})({"text": "red"})

    assert '1 of 2 keywords found; missing ["blue"]' in found.evidence


@given(
    keywords=st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5),
    reply=st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ),
)
def test_the_score_is_a_share_and_all_keywords_joined_give_one(keywords: list[str], reply: Any) -> None:
    """Any answer scores between 0 and 1; one that holds every keyword scores 1."""
    assert 0.0 <= score(keywords, reply) <= 1.0
    assert score(keywords, "\n".join(keywords), caseSensitive=True) == 1.0


@pytest.mark.parametrize(
    ("expected", "options", "pointer"),
    [
        ({}, {}, "/expected/keywords"),
        ({"keywords": []}, {}, "/expected/keywords"),
        ({"keywords": "red"}, {}, "/expected/keywords"),
        ({"keywords": ["a", ""]}, {}, "/expected/keywords/1"),
        ({"keywords": ["a", 1]}, {}, "/expected/keywords/1"),
        ({"keywords": ["a"] * 1_001}, {}, "/expected/keywords"),
        ({"keywords": ["a" * 10_001]}, {}, "/expected/keywords/0"),
        ({"keywords": ["a"]}, {"coerce": True}, "/options/coerce"),
        ({"keywords": ["a"]}, {"caseSensitive": 1}, "/options/caseSensitive"),
    ],
)
def test_a_faulty_expectation_is_refused(expected: Any, options: Any, pointer: str) -> None:
    """An empty list would pass everything, an empty keyword every answer."""
    with pytest.raises(BadExpectation) as caught:
        contains.prepare(expected, options)

    assert caught.value.pointer == pointer
