from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.catalog.index import entries
from coordinator.catalog.skill import FailureMode, Rejection, Skill
from coordinator.static.manifest import examine
from tests.coordinator.static.context import CONTEXT

SECRET = "hunter2-do-not-show"


def test_manifest_of_objects_is_read_whole(skill_of: Callable[[Any], Skill], manifest: dict[str, Any]) -> None:
    """What the published shape with objects declares becomes schemas, an example, test cases and the way in."""
    skill = skill_of(manifest)

    assert (skill.id, skill.format, skill.pointer) == ("word-counter", "sxm", "/0")
    assert skill.input_schema == {
        "type": "object",
        "properties": {"text": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
        "required": ["text"],
    }
    assert skill.output_schema == {
        "type": "object",
        "properties": {"words": {"type": "integer"}},
        "required": ["words"],
    }
    assert skill.example == {"text": "one two"}
    assert skill.access is not None
    assert (skill.access.endpoint, skill.access.options) == (manifest["test_endpoint"], {"body": "inputs"})
    assert skill.failure_modes == (FailureMode(condition="empty text", behaviour="answers 0"),)
    assert skill.test_cases[0].expected == {"words": 2}


def test_manifest_of_plain_lines_is_read_whole(
    skill_of: Callable[[Any], Skill], plain_manifest: dict[str, Any]
) -> None:
    """In the shape with lines of text a line that is a name declares it, and prose declares nothing checkable."""
    skill = skill_of(plain_manifest)

    assert skill.input_schema == {
        "type": "object",
        "properties": {"text": {"type": "string"}, "sentences": {"type": "integer"}, "tone": {"type": "string"}},
        "required": ["text", "tone"],
    }
    assert skill.inputs[2].description == "how it should sound"
    assert skill.output_schema == {"type": "object", "properties": {"summary": {}}, "required": ["summary"]}
    assert skill.outputs[1].description == "some notes on what was left out"
    assert skill.failure_modes == (
        FailureMode(condition="text too long"),
        FailureMode(condition="no text", behaviour="answers with status 400"),
    )
    assert skill.access is None


def test_outputs_in_prose_leave_nothing_to_check(
    skill_of: Callable[[Any], Skill], plain_manifest: dict[str, Any]
) -> None:
    """Where every output is told in prose there is no output schema, rather than one that accepts anything."""
    assert skill_of({**plain_manifest, "outputs": ["a short text, as promised"]}).output_schema is None


def test_inputs_in_prose_cannot_be_called(
    skill_of: Callable[[Any], Skill], rejection_of: Callable[[Any], Rejection], plain_manifest: dict[str, Any]
) -> None:
    """Prose is no name to send a value under: refused with an endpoint, kept for the reader without one."""
    prose = {**plain_manifest, "inputs": ["text", "the language to answer in"]}

    rejection = rejection_of({**prose, "test_endpoint": "http://127.0.0.1/x"})

    assert rejection.pointer == "/0/inputs/1"
    assert skill_of(prose).example.keys() == {"text"}


@pytest.mark.parametrize(
    ("change", "pointer", "expected", "found"),
    [
        ({"name": None}, "/name", "a text", "null"),
        ({"version": 1.0}, "/version", "a text", "1.0; put it in quotes"),
        ({"description": "  "}, "/description", "a text that is not empty", '"  "'),
        ({"name": "a\x1b[2J"}, "/name", "one line of printable characters", '"a\\x1b[2J"'),
        ({"inputs": {}}, "/inputs", "a list", "an empty object"),
        ({"inputs": [3]}, "/inputs/0", "an object with name and type, or a line of text", "3"),
        ({"inputs": [{"type": "string"}]}, "/inputs/0/name", "a text", "nothing"),
        ({"inputs": [{"nmae": "x"}]}, "/inputs/0/name", "a text", 'nothing; is "nmae" meant?'),
        ({"inputs": ["a", "a"]}, "/inputs/1", "each name once", '"a" again'),
        ({"inputs": ["n (intger)"]}, "/inputs/0", "one of array,", "\"intger\"; did you mean 'integer'?"),
        ({"inputs": [{"name": "n", "type": "quux"}]}, "/inputs/0/type", "one of array, boolean,", '"quux"'),
        ({"inputs": [{"name": "n", "type": 7}]}, "/inputs/0/type", "one of array, boolean,", "7"),
        ({"inputs": [{"name": "n", "required": "yes"}]}, "/inputs/0/required", "true or false", '"yes"'),
        (
            {"inputs": [{"name": "n", "schema": {"type": "strng"}}]},
            "/inputs/0/schema/type",
            "a valid JSON Schema",
            '"strng" is not valid',
        ),
        (
            {"inputs": [{"name": "n", "type": "string", "schema": {"type": "integer"}}]},
            "/inputs/0/schema/type",
            '"string", as the input says, or nothing',
            '"integer"',
        ),
        (
            {"outputs": [{"name": "n", "schema": {"$ref": "http://127.0.0.1:1/s"}}]},
            "/outputs/0/schema/$ref",
            'a reference inside the schema ("#/...")',
            '"http://127.0.0.1:1/s"',
        ),
        ({"outputs": [{"name": "n", "schema": []}]}, "/outputs/0/schema", "a JSON Schema object", "an empty list"),
        ({"failure_modes": [{"behaviour": "x"}]}, "/failure_modes/0/condition", "a text", "nothing"),
        ({"test_cases": [{"input": [], "expected": 1}]}, "/test_cases/0/input", "an object", "an empty list"),
        ({"test_cases": [{"input": {}}]}, "/test_cases/0/expected", "any JSON value", "nothing"),
        ({"test_timeout_ms": 0}, "/test_timeout_ms", "a number from 1 to 600,000", "0"),
        ({"test_timeout_ms": 1.5}, "/test_timeout_ms", "a whole number from 1 to 600000", "1.5"),
        ({"max_requests_per_second": True}, "/max_requests_per_second", "a number from", "true"),
        ({"open_ended": 1}, "/open_ended", "true or false", "1"),
        ({"permissions": ["a", 2]}, "/permissions/1", "a text that is not empty", "2"),
        ({"id": "two words"}, "/id", "an id without blanks", '"two words"'),
        ({"test_endpoint": "ftp://h/x"}, "/test_endpoint", "an http or https URL", '"ftp:..."'),
        ({"test_endpoint": "http:///x"}, "/test_endpoint", "an http or https URL with a host", '"http:///x"'),
        ({"test_endpoint": "http://h:99999/"}, "/test_endpoint", "an http or https URL", "a URL with a wrong host"),
        ({"auth": {"type": "bearr", "token": "env:X"}}, "/auth/type", "one of bearer", "a text of another meaning"),
    ],
)
def test_wrong_field_is_refused_where_it_stands(
    rejection_of: Callable[[Any], Rejection],
    manifest: dict[str, Any],
    change: dict[str, Any],
    pointer: str,
    expected: str,
    found: str,
) -> None:
    """Each wrong member is told by pointer, with what was expected and what was found."""
    rejection = rejection_of({**manifest, **change})

    assert rejection.pointer == "/0" + pointer
    assert rejection.expected.startswith(expected)
    assert rejection.found.startswith(found)


@pytest.mark.parametrize("name", ["name", "version", "description", "inputs", "outputs"])
def test_missing_required_field_is_refused(
    rejection_of: Callable[[Any], Rejection], manifest: dict[str, Any], name: str
) -> None:
    """Without one of the required fields the rejection points to it."""
    del manifest[name]

    rejection = rejection_of(manifest)

    assert (rejection.pointer, rejection.found) == (f"/0/{name}", "nothing")


@pytest.mark.parametrize(
    "change",
    [
        {"auth": {"type": "bearer", "token": SECRET}},
        {"auth": {"type": "bearer", "token": ["env:X", SECRET]}},
        {"auth": {"type": "bearer", "token": f"env:X {SECRET}"}},
        {"auth": {"type": "api_key", "token": "env:X", "value": SECRET}},
        {"auth": {"type": "api_key", "token": "env:X", "header": f"X: {SECRET}"}},
        {"auth": {"type": SECRET, "token": "env:X"}},
        {"test_endpoint": f"https://user:{SECRET}@example.com/"},
        {"test_endpoint": f"https://user:{SECRET}@example.com:x/"},
        {"test_endpoint": f"https://user:{SECRET}@exa mple.com/"},
        {"canary": [SECRET]},
        {"system_prompt": {"text": SECRET}},
    ],
)
def test_secret_that_is_written_out_is_refused_unseen(
    rejection_of: Callable[[Any], Rejection], manifest: dict[str, Any], change: dict[str, Any]
) -> None:
    """A literal secret costs the entry its place, and no message repeats it."""
    assert SECRET not in str(rejection_of({**manifest, **change}))


def test_secret_by_reference_goes_to_the_adapter(skill_of: Callable[[Any], Skill], manifest: dict[str, Any]) -> None:
    """The adapter gets the reference as it stands; the planted secret gets its own place."""
    auth = {"type": "api_key", "token": "env:COUNTER_KEY", "header": "X-Key"}

    skill = skill_of({**manifest, "auth": auth, "canary": "c-1", "system_prompt": "p"})

    assert skill.access is not None
    assert skill.access.options == {"body": "inputs", "auth": auth}
    assert (skill.planted.canary, skill.planted.system_prompt) == ("c-1", "p")


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Café Zoë!", "cafe-zoe"), ("天気 予報", "天気-予報"), ("Straße", "strasse"), ("a/../b", "a-b")],
)
def test_id_is_the_slug_of_the_name(
    skill_of: Callable[[Any], Skill], manifest: dict[str, Any], name: str, slug: str
) -> None:
    """Without an id the name gives one, in any script."""
    assert skill_of({**manifest, "name": name}).id == slug


def test_names_without_letters_stay_apart(skill_of: Callable[[Any], Skill], manifest: dict[str, Any]) -> None:
    """Two names of signs only have two ids."""
    assert skill_of({**manifest, "name": "★"}).id != skill_of({**manifest, "name": "♥"}).id


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "type", "$ref", "x"]), inner),
    max_leaves=6,
)


@settings(deadline=None)
@given(data=st.data())
def test_mutated_manifest_never_raises(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A valid manifest with any part of it replaced by anything is a skill or a rejection, never an error."""
    document = copy.deepcopy(MUTATED)
    place: Any = document
    for _ in range(data.draw(st.integers(0, 4))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        inner = [key for key in keys if isinstance(place[key], dict | list) and place[key]]
        if not inner:
            break
        place = place[data.draw(st.sampled_from(inner))]
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    place[data.draw(st.sampled_from(keys))] = data.draw(JUNK)
    path = tmp_path_factory.mktemp("mutated") / "skillmark.json"
    path.write_text(json.dumps(document))

    (entry,) = entries(path)

    if isinstance(entry, Skill):
        assert 0 <= examine(entry, CONTEXT).score <= 100
        assert list(entries(path)) == [entry]


MUTATED = {
    "id": "m",
    "name": "M",
    "version": "1.0.0",
    "description": "d",
    "inputs": [
        {"name": "a", "type": "string", "required": True, "schema": {"minLength": 3, "maxLength": 9, "pattern": "^a"}},
        {"name": "b", "type": "number", "schema": {"minimum": 2, "exclusiveMaximum": 5, "multipleOf": 0.5}},
        {"name": "c", "type": "array", "schema": {"items": {"enum": [1]}, "minItems": 2, "uniqueItems": True}},
        {"name": "d", "schema": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}], "$defs": {"x": {"const": 1}}}},
        "e (integer): f",
    ],
    "outputs": [{"name": "r", "type": ["string", "null"], "schema": {"format": "date"}}, "s"],
    "failure_modes": [{"condition": "c", "behaviour": "b"}, "x -> y"],
    "permissions": ["network:example.com"],
    "test_endpoint": "http://127.0.0.1:9/x",
    "test_timeout_ms": 1000,
    "auth": {"type": "bearer", "token": "env:X"},
    "test_cases": [{"name": "t", "input": {"a": "abc"}, "expected": {"r": "2024-01-01"}}],
}
