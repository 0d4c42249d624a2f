"""Edge cases: what is asked of a skill by what it declares, and by nothing else."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.catalog.example import example
from coordinator.catalog.schemas import check_schema, problem
from coordinator.catalog.skill import FailureMode, Parameter, Skill
from coordinator.edge_cases import BASELINE_REQUESTS, CONSIDERED, REQUESTS, EdgeCase, edge_cases
from tests.coordinator.skills import skill, text, whole
from workers.wire.job import Wanted

ALL = 1_000


def cases(of: Skill, **how: Any) -> dict[str, EdgeCase]:
    return {case.name: case for case in edge_cases(of, max_requests=ALL, **how)}


def wanted(of: Skill, **how: Any) -> dict[str, Wanted]:
    return {name: case.wanted for name, case in cases(of, **how).items()}


def test_a_declared_number_is_asked_at_its_limits_and_one_beyond() -> None:
    """Both limits must be answered by the only input, one beyond them refused, in either notation."""
    found = cases(skill(whole(minimum=1, exclusiveMaximum=10)))

    asked = {(case.input.get("count"), case.wanted) for name, case in found.items() if name.startswith(("bou", "bey"))}
    assert asked == {
        (1, Wanted.ANSWERED),
        (9, Wanted.ANSWERED),
        (0, Wanted.REFUSED),
        (10, Wanted.REFUSED),
    }


def test_a_declared_text_is_asked_at_its_lengths_and_one_beyond() -> None:
    """A text of a declared length may mean nothing, so it may be refused; one beyond must be."""
    found = cases(skill(text(minLength=2, maxLength=12)))

    lengths = {
        (len(case.input["text"]), case.wanted) for name, case in found.items() if name.startswith(("bou", "bey"))
    }
    assert lengths == {(2, Wanted.EITHER), (12, Wanted.EITHER), (1, Wanted.REFUSED), (13, Wanted.REFUSED)}


def test_a_list_is_asked_at_its_sizes_and_one_beyond() -> None:
    """An array of the least and the greatest size, and just outside."""
    tags = Parameter(
        name="tags",
        schema={"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 4},
        example=["a", "b"],
    )

    found = cases(skill(tags))

    sizes = {name.partition("/")[0]: set() for name in found}
    for name, case in found.items():
        if isinstance(case.input.get("tags"), list):
            sizes[name.partition("/")[0]].add((len(case.input["tags"]), case.wanted))
    assert sizes["bound"] == {(4, Wanted.ANSWERED)}  # two of them is the example itself
    assert sizes["beyond"] == {(5, Wanted.REFUSED), (1, Wanted.REFUSED)}
    assert sizes["empty"] == {(0, Wanted.REFUSED)}


def test_every_member_of_a_choice_and_a_stranger_are_asked() -> None:
    """The other declared values are right, any other is wrong."""
    unit = Parameter(name="unit", schema={"type": "string", "enum": ["km", "mi", "m"]})

    found = cases(skill(unit))

    assert {case.input["unit"] for name, case in found.items() if name.startswith("choice")} == {"mi", "m"}
    assert found["choice/unit"].wanted is Wanted.ANSWERED
    assert found["undeclared/unit"].wanted is Wanted.REFUSED


def test_what_is_incomplete_of_the_wrong_type_or_no_json_must_be_refused() -> None:
    """A required input left out, an object for a text, half a body."""
    found = wanted(skill(text()), takes_body=True)

    assert {found[name] for name in ("missing/text", "wrong_type/text", "malformed/body")} == {Wanted.REFUSED}


def test_what_is_not_forbidden_cannot_be_broken() -> None:
    """Another input, a number for a text, the empty text and other scripts may be taken or refused."""
    found = wanted(skill(text()), takes_body=True)

    assert {found[name] for name in ("extra", "coercible/text", "empty/text", "unicode/text")} == {Wanted.EITHER}


def test_an_extra_input_that_the_schema_forbids_must_be_refused() -> None:
    """A closed object is a declaration like any other."""
    closed = skill(text())
    closed = msgspec.structs.replace(closed, input_schema={**closed.input_schema, "additionalProperties": False})

    assert wanted(closed)["extra"] is Wanted.REFUSED


def test_an_assumed_type_binds_nobody() -> None:
    """Where the manifest gives a name alone, it says neither of which type it is nor that it is needed."""
    found = wanted(skill(Parameter(name="text", schema={"type": "string"}, example="words", assumed=True)))

    assert (found["missing/text"], found["wrong_type/text"]) == (Wanted.EITHER, Wanted.EITHER)


def test_optional_inputs_can_be_left_out_if_the_schema_ever_says_what_is_required() -> None:
    """A schema without `required` was written by somebody who did not think of it."""
    said = skill(text(), Parameter(name="count", schema={"type": "integer"}, required=False, example=3))
    unsaid = msgspec.structs.replace(
        said,
        inputs=tuple(msgspec.structs.replace(one, required=False) for one in said.inputs),
        input_schema={name: value for name, value in said.input_schema.items() if name != "required"},
    )

    assert wanted(said)["required_only"] is Wanted.ANSWERED
    assert cases(said)["required_only"].input == {"text": "some words"}
    assert wanted(unsaid)["required_only"] is Wanted.EITHER


def test_nested_objects_are_looked_into() -> None:
    """A member of an object, or of the first object in a list, is left out and given the wrong type."""
    person = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name"],
    }
    people = Parameter(
        name="people",
        schema={"type": "array", "items": {"$ref": "#/$defs/p"}, "$defs": {"p": person}},
        example=[{"name": "A", "age": 3}],
    )

    nested = [case for name, case in cases(skill(people)).items() if name.startswith("nested")]

    assert {case.wanted for case in nested} == {Wanted.REFUSED}
    asked = [case.input["people"] for case in nested]
    assert [{"age": 3}] in asked
    assert [{"name": {"not": "a text"}, "age": 3}] in asked
    assert [{"name": "A", "age": "no number"}] in asked


def test_a_skill_that_is_talked_to_gets_texts_alone() -> None:
    """No types, no bodies, no missing inputs: what reaches it is one text, and it may answer or refuse."""
    found = cases(skill(text(minLength=1, maxLength=50)), takes_body=True, talks=True)

    assert {name.partition("/")[0] for name in found} == {"unicode", "bound", "empty"}
    assert {case.wanted for case in found.values()} == {Wanted.EITHER}
    assert all(isinstance(case.input["text"], str) for case in found.values())


def test_no_body_is_broken_where_there_is_none() -> None:
    """A protocol without a JSON body of its own gets the other cases."""
    assert "malformed/body" not in cases(skill(text()))


def test_an_example_that_is_itself_wrong_is_no_basis() -> None:
    """What is wrong already cannot be told from what was changed; half a body still can."""
    wrong = skill(Parameter(name="count", schema={"type": "integer"}, example="five"))

    assert set(cases(wrong, takes_body=True)) == {"malformed/body"}


def test_a_declared_failure_mode_is_exercised() -> None:
    """The case names the failure mode and the status that it promises; one that is no refusal allows an answer."""
    refuses = FailureMode(condition="The input is missing", behaviour="Answers 422 and names it")
    answers = FailureMode(condition="The text is longer than 12 characters", behaviour="The rest is cut off")

    found = cases(skill(text(maxLength=12), failure_modes=(refuses, answers)))

    assert (found["missing/text"].wanted, found["missing/text"].statuses) == (Wanted.REFUSED, (422,))
    assert found["missing/text"].declared == "The input is missing -> Answers 422 and names it"
    assert found["beyond/text"].wanted is Wanted.EITHER


def test_the_requests_stay_within_the_limit_and_every_kind_has_its_turn() -> None:
    """With many inputs each kind is asked of the first ones before any kind is asked of all."""
    many = skill(*(text(f"text{index}", minLength=1, maxLength=90) for index in range(20)))

    chosen = edge_cases(many, max_requests=24, takes_body=True)

    assert BASELINE_REQUESTS + sum(REQUESTS[case.wanted] for case in chosen) <= 24
    assert {case.name.partition("/")[0] for case in chosen} >= {
        "malformed",
        "missing",
        "wrong_type",
        "unicode",
        "bound",
        "beyond",
        "empty",
        "coercible",
        "extra",
    }


def test_no_request_is_no_case() -> None:
    """The policy can switch them off."""
    assert edge_cases(skill(text()), max_requests=0, takes_body=True) == ()


SCALARS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 3, "maxLength": 3},
        {"type": "string", "maxLength": 10**9},
        {"type": "string", "pattern": "^[a-z]+$"},
        {"enum": ["a", 1, None]},
        {"const": 4},
        {"type": "integer", "minimum": -(10**30)},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
        {"type": ["null", "boolean"]},
        {"anyOf": [{"type": "integer", "maximum": 3}, {"type": "null"}]},
        {"$ref": "#/$defs/gone", "$defs": {"gone": {"$ref": "#/$defs/gone"}}},
        {},
    ]
)
SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        inner.map(lambda item: {"type": "array", "items": item, "maxItems": 3}),
        st.dictionaries(st.sampled_from(["a", "b", "a~/#2"]), inner, min_size=1).map(
            lambda members: {"type": "object", "properties": members, "required": sorted(members)[:1]}
        ),
    ),
    max_leaves=6,
)
NAMES = st.sampled_from(["text", "text#2", "a/b", "", "é", "x" * 300, "an_input_nobody_declared"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NAMES, SCHEMAS, st.booleans()), max_size=4, unique_by=lambda one: one[0]), st.integers(0, 60))
def test_any_declaration_gives_the_same_bounded_and_honest_cases(
    declared: list[tuple[str, dict[str, Any], bool]], most: int
) -> None:
    """Twice the same; names and calls apart; within the limit; refusal is asked for nothing that the schema takes."""
    inputs = [Parameter(name=name, schema=schema, required=required) for name, schema, required in declared]
    of = skill(*inputs)

    first, second = (edge_cases(of, max_requests=most, takes_body=True) for _ in range(2))

    assert first == second
    assert len({case.name for case in first}) == len(first)
    assert len({msgspec.json.encode([case.body, case.input], order="deterministic") for case in first}) == len(first)
    assert sum(REQUESTS[case.wanted] for case in first) <= max(0, most - BASELINE_REQUESTS)
    for case in first:
        if case.body is None and case.wanted is Wanted.REFUSED:
            assert problem(of.input_schema, case.input) is not None
        if case.wanted is Wanted.ANSWERED:
            assert problem(of.input_schema, case.input) is None


def test_a_vast_declaration_is_not_read_to_its_end() -> None:
    """Objects in objects multiply; the cases considered do not."""
    names = [f"m{index}" for index in range(8)]
    schema: dict[str, Any] = {"type": "string", "minLength": 2, "maxLength": 9}
    for _ in range(3):
        schema = {"type": "object", "properties": dict.fromkeys(names, schema), "required": names}
    given = Parameter(name="tree", schema=schema)
    check_schema(schema, "")

    found = edge_cases(skill(given, example=example([given])), max_requests=10**6)

    assert 0 < len(found) <= CONSIDERED
