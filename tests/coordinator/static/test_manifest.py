from __future__ import annotations

from typing import Any

import pytest

from coordinator.catalog import eval_skills, sxm
from coordinator.catalog.skill import Skill
from coordinator.static import manifest
from coordinator.static.evidence import Checked, Deduction
from tests.coordinator.static.context import CONTEXT

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


def examine(skill: Skill) -> Checked:
    return manifest.examine(skill, CONTEXT)


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
        ({"failure_modes": []}, "/failure_modes", 10),
        ({"failure_modes": ["too long"]}, "/failure_modes/0", 3),
        ({"failure_modes": ["An error occurs -> returns an error"]}, "/failure_modes/0", 4),
        ({"failure_modes": ["empty text -> 0", "the text is empty? -> 400", "Empty text -> 1"]}, "/failure_modes/2", 4),
        ({"test_cases": []}, "/test_cases", 12),
        ({"outputs": []}, "/outputs", 12),
        ({"outputs": [{"name": "words", "description": "x"}]}, "/outputs/0", 3),
        ({"outputs": [{"name": "words", "type": "integer"}]}, "/outputs/0", 3),
        ({"outputs": ["a number, hopefully"]}, "/outputs/0", 4),
        ({"inputs": [{**GOOD["inputs"][0], "description": ""}]}, "/inputs/0", 4),
        ({"inputs": [{**GOOD["inputs"][0], "type": None}]}, "/inputs/0", 4),
        ({"inputs": [{"name": "text", "type": "string", "description": "x"}]}, "/inputs/0", 3),
        ({"inputs": [GOOD["inputs"][0], "the language, if not English"]}, "/inputs/1", 6),
        ({"inputs": [{**GOOD["inputs"][0], "example": 3}]}, "/inputs/0/example", 8),
        ({"test_cases": [{"input": {"txt": "x", "text": "x"}, "expected": 1}]}, "/test_cases/0/input/txt", 6),
        ({"test_cases": [{"input": {}, "expected": 1}]}, "/test_cases/0/input", 6),
        ({"test_cases": [{"input": {"text": 1}, "expected": 1}]}, "/test_cases/0/input/text", 6),
        ({"test_cases": [{"input": {"text": "x"}, "expected": "1"}]}, "/test_cases/0/expected", 6),
        ({"test_cases": [{"input": {"text": "x"}, "expected": {"word": 1}}]}, "/test_cases/0/expected", 6),
        ({"test_cases": [{"input": {"text": "x"}, "expected": {"words": 1.5}}]}, "/test_cases/0/expected", 6),
    ],
)
def test_each_gap_is_told_with_its_field_and_points(change: dict[str, Any], field: str, points: float) -> None:
    """One gap is one deduction, which names the field and what it costs."""
    (found,) = deductions(change)

    assert (found.field, found.points) == (field, points)
    assert found.rule.startswith("manifest/")


@pytest.mark.parametrize("expected", [2, {"words": 2}, {}])
def test_a_case_may_expect_an_output_or_an_object_of_them(expected: Any) -> None:
    """Both are how an answer is compared."""
    assert deductions({"test_cases": [{"input": {"text": "x"}, "expected": expected}]}) == ()


def test_permissions_and_data_handling_are_not_billed_here() -> None:
    """Checks of their own weigh them."""
    assert deductions({"permissions": None, "data_handling": None}) == ()


def test_many_gaps_of_one_kind_weigh_no_more_than_two() -> None:
    """A hundred undescribed inputs cost less than twice what one does, and no more than fifty are told."""
    inputs = [{"name": f"i{n}", "type": "boolean"} for n in range(100)]

    found = [one for one in deductions({"inputs": inputs}) if one.rule == "manifest/input-undescribed"]

    assert len(found) == 50
    assert 7.9 < sum(one.points for one in found) <= 8


def test_score_is_what_the_deductions_leave_and_never_below_zero() -> None:
    """The score is 100 less the deductions, and 0 at the worst."""
    assert Checked((Deduction("/a", "x", 30), Deduction("/b", "y", 4.5))).score == 65.5
    assert Checked((Deduction("/a", "x", 80), Deduction("/b", "y", 40))).score == 0


def test_worst_manifest_scores_low_and_twice_the_same() -> None:
    """A bare manifest loses most of its points, the same ones each time."""
    bare = {"name": "x", "version": "x", "description": "x", "inputs": ["x y z"] * 3, "outputs": []}
    skill = sxm.read(bare, source="s", pointer="", folder=None)

    once, twice = examine(skill), examine(skill)

    assert once == twice
    assert once.score < 40


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
