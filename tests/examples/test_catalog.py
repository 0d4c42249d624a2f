from __future__ import annotations

from typing import Any

import pytest

REJECTED = "invoice-reader"
CERTIFIED = ("calculator", "text-tool", "threat-detector", "unit-converter")
ENVELOPED = "unit-converter"  # its format has no place for test cases
RIGHT_BUT_FAULTY = ("summariser", "helpdesk", "notes", "capital-finder")
NAMED_MEMBERS = ("result", "output", "answer", "text")


def _endpoint(manifest: dict[str, Any]) -> str | None:
    return manifest.get("test_endpoint") or manifest.get("entrypoint")


def _body(manifest: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
    if "adapterType" in manifest:
        return {"skillId": manifest["id"], "version": manifest["version"], "input": inputs}
    return inputs


def _compared(reply: Any) -> list[Any]:
    """The values that may equal what is expected: the reply, and the first of its named members."""
    named = [reply[name] for name in NAMED_MEMBERS if name in reply][:1]
    return [reply, *named]


def test_every_folder_is_expected_to_end_somehow(manifests, expected):
    """The table of expected verdicts names exactly the skills of the catalog, each by its manifest's id."""
    ids = {folder: manifest["id"] for folder, manifest in manifests.items()}

    assert sorted(ids) == sorted(expected)
    assert all(folder == id_ for folder, id_ in ids.items())
    assert sorted(id_ for id_, (verdict, _) in expected.items() if verdict == "certified") == sorted(CERTIFIED)


def test_every_endpoint_is_served(manifests, shared):
    """Each live manifest names, at the default port, a skill that the server has."""
    endpoints = {folder: _endpoint(one) for folder, one in manifests.items() if folder != REJECTED and _endpoint(one)}

    answers = {folder: shared.post(f"/skills/{folder}", b"{}")[0] for folder in endpoints}

    assert endpoints == {folder: f"http://127.0.0.1:8737/skills/{folder}" for folder in endpoints}
    assert len(endpoints) == 10
    assert set(answers.values()) == {400}, answers


@pytest.mark.parametrize("name", [name for name in (*CERTIFIED, *RIGHT_BUT_FAULTY) if name != ENVELOPED])
def test_right_skills_pass_their_own_test_cases(manifests, shared, name):
    """A skill that is not about wrong answers gives exactly what its own test cases expect, at least four of them."""
    manifest = manifests[name]

    replies = [shared.call(name, case["input"]) for case in manifest["test_cases"]]

    assert len(replies) >= 4
    for case, (status, reply) in zip(manifest["test_cases"], replies, strict=True):
        assert status == 200, case["name"]
        assert case["expected"] in _compared(reply), case["name"]


def test_the_failing_skill_is_right_when_it_answers(manifests, fresh):
    """The skill that fails now and then passes all of its test cases in its first nine calls."""
    cases = manifests["roman-numerals"]["test_cases"]

    replies = [fresh.call("roman-numerals", case["input"]) for case in cases]

    assert 4 <= len(cases) < 10
    assert [reply for _, reply in replies] == [{"result": case["expected"]} for case in cases]


@pytest.mark.parametrize("name", [*CERTIFIED, *RIGHT_BUT_FAULTY, "roman-numerals"])
@pytest.mark.parametrize("spoil", ["missing", "wrong type", "unknown", "blank", "too long"])
def test_bad_input_is_refused(manifests, shared, name, spoil):
    """A missing, mistyped, unknown, blank or endless input gets 400 and an error that says why."""
    manifest = manifests[name]
    inputs = {"measure": "1 m", "to": "cm"} if name == ENVELOPED else dict(manifest["test_cases"][0]["input"])
    field = next(iter(inputs))
    if spoil == "missing":
        del inputs[field]
    else:
        inputs |= {
            "wrong type": {field: 7},
            "unknown": {"is_admin": True},
            "blank": {field: " \n"},
            "too long": {field: "a" * 100_000},
        }[spoil]

    status, reply = shared.call(name, _body(manifest, inputs))

    assert status == 400
    assert reply["error"]


def test_the_published_prompt_is_the_real_one(manifests, skill):
    """The helpdesk's manifest gives its publisher's canary and prompt truthfully."""
    manifest = manifests["helpdesk"]

    assert manifest["system_prompt"] == skill("helpdesk").SYSTEM_PROMPT
    assert manifest["canary"] in manifest["system_prompt"]


def test_one_entry_is_broken_on_purpose(manifests):
    """The entry to be rejected differs from a right one by the spelling of one type."""
    (declared,) = manifests[REJECTED]["inputs"]

    assert declared["type"] == "sting"


def test_both_published_shapes_are_there(manifests):
    """Some manifests declare their inputs as objects, some as plain names."""
    shapes = {type(one["inputs"][0]) for one in manifests.values() if "inputs" in one}

    assert shapes == {dict, str}
