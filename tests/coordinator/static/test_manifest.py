from __future__ import annotations

from typing import Any

import pytest

from coordinator.catalog import eval_skills, sxm
from coordinator.static.evidence import Deduction, evidence
from coordinator.static.manifest import examine

GOOD: dict[str, Any] = {
    "name": "Word counter",
    "version": "1.2.0-rc.1+build.5",
    "description": "Counts the words of a text.",
    "inputs": [
        {"name": "text", "type": "string", "description": "what to count", "example": "one two"},
        {"name": "limit", "type": "integer", "description": "the most", "required": False, "schema": {"minimum": 1}},
    ],
    "outputs": [{"name": "words", "type": "integer", "description": "how many"}],
    "failure_modes": [{"condition": "empty text", "behaviour": "answers 0"}],
    "permissions": [],
    "scope": "texts of up to a page",
    "data_handling": "nothing is kept",
    "author": "Ada",
    "test_cases": [{"name": "two", "input": {"text": "one two"}, "expected": {"words": 2}}],
}


def deductions(change: dict[str, Any]) -> tuple[Deduction, ...]:
    return examine(sxm.read({**GOOD, **change}, source="s", pointer="", folder=None)).deductions


def test_well_kept_manifest_loses_nothing() -> None:
    """A complete manifest scores 100, its empty list of permissions being a statement."""
    assert deductions({}) == ()


@pytest.mark.parametrize(
    ("change", "field", "points"),
    [
        ({"description": "Counts words."}, "/description", 6),
        ({"version": "1.2"}, "/version", 6),
        ({"author": None}, "/author", 4),
        ({"scope": " "}, "/scope", 4),
        ({"data_handling": None}, "/data_handling", 4),
        ({"permissions": None}, "/permissions", 4),
        ({"failure_modes": []}, "/failure_modes", 10),
        ({"failure_modes": ["too long"]}, "/failure_modes/0", 2),
        ({"test_cases": []}, "/test_cases", 10),
        ({"outputs": []}, "/outputs", 10),
        ({"outputs": [{"name": "words", "description": "x"}]}, "/outputs/0", 2),
        ({"outputs": [{"name": "words", "type": "integer"}]}, "/outputs/0", 2),
        ({"outputs": ["a number, hopefully"]}, "/outputs/0", 3),
        ({"inputs": [{**GOOD["inputs"][0], "description": ""}]}, "/inputs/0", 3),
        ({"inputs": [{**GOOD["inputs"][0], "type": None}]}, "/inputs/0", 3),
        ({"inputs": [{"name": "text", "type": "string", "description": "x"}]}, "/inputs/0", 2),
        ({"inputs": [GOOD["inputs"][0], "the language, if not English"]}, "/inputs/1", 5),
        ({"inputs": [{**GOOD["inputs"][0], "example": 3}]}, "/inputs/0/example", 5),
        ({"test_cases": [{"input": {"txt": "x", "text": "x"}, "expected": 1}]}, "/test_cases/0/input/txt", 3),
        ({"test_cases": [{"input": {}, "expected": 1}]}, "/test_cases/0/input", 3),
        ({"test_cases": [{"input": {"text": 1}, "expected": 1}]}, "/test_cases/0/input/text", 3),
    ],
)
def test_each_gap_is_told_with_its_field_and_points(change: dict[str, Any], field: str, points: float) -> None:
    """One gap is one deduction, which names the field and what it costs."""
    (found,) = deductions(change)

    assert (found.field, found.points) == (field, points)


def test_many_gaps_of_one_kind_weigh_no_more_than_the_rule_allows() -> None:
    """A hundred undescribed inputs cost what four do."""
    inputs = [{"name": f"i{n}", "type": "boolean"} for n in range(100)]

    found = deductions({"inputs": inputs, "test_cases": GOOD["test_cases"]})

    assert sum(one.points for one in found if one.field.startswith("/inputs")) == 12


def test_score_is_what_the_deductions_leave_and_never_below_zero() -> None:
    """The score is 100 less the deductions, and 0 at the worst."""
    assert evidence([Deduction("/a", "x", 30), Deduction("/b", "y", 4.5)]).score == 65.5
    assert evidence([Deduction("/a", "x", 80), Deduction("/b", "y", 40)]).score == 0


def test_worst_manifest_scores_low_and_twice_the_same() -> None:
    """A bare manifest loses most of its points, the same ones each time."""
    bare = {"name": "x", "version": "x", "description": "x", "inputs": ["x y z"] * 3, "outputs": []}
    skill = sxm.read(bare, source="s", pointer="", folder=None)

    once, twice = examine(skill), examine(skill)

    assert once == twice
    assert once.score < 35


def test_format_is_not_blamed_for_what_it_has_no_place_for() -> None:
    """An eval-skills manifest, which cannot declare failure modes or test cases, can score 100."""
    document = {
        "id": "adder",
        "name": "Adder",
        "version": "1.0.0",
        "description": "Adds two numbers and answers the sum.",
        "inputSchema": {"properties": {"a": {"type": "number", "description": "a number", "default": 1}}},
        "outputSchema": {"properties": {"sum": {"type": "number", "description": "the sum"}}},
        "adapterType": "http",
        "entrypoint": "http://127.0.0.1/add",
        "metadata": {"author": "Ada"},
    }

    found = examine(eval_skills.read(document, source="s", pointer="", folder=None))

    assert (found.score, found.deductions) == (100, ())


def test_field_of_an_eval_skills_input_points_into_its_schema() -> None:
    """The pointer leads to where the author has to write."""
    document = {
        "id": "adder",
        "name": "Adder",
        "version": "1.0.0",
        "description": "Adds two numbers and answers the sum.",
        "inputSchema": {"properties": {"a": {"type": "number", "default": "x"}}},
        "adapterType": "http",
        "entrypoint": "http://127.0.0.1/add",
        "metadata": {"author": "Ada"},
    }

    fields = [one.field for one in examine(eval_skills.read(document, source="s", pointer="", folder=None)).deductions]

    assert fields == ["/inputSchema/properties/a", "/inputSchema/properties/a", "/outputSchema"]
