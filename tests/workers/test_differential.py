from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from payloads import loader
from workers.canaries import Canaries
from workers.detectors._detector import Answer, Context, Step, Texts
from workers.differential import Differential, Pair
from workers.observation import Answered, Observation, Refused, Value
from workers.scanning import Scan
from workers.wire.job import Attack
from workers.wire.skill import Access, SkillRef

PAIR = Pair(name="pair", holds="{example} {equation}", fails="{example} {contradiction}")
SKILL = SkillRef(
    id="s",
    name="s",
    version="1",
    digest="sha256:0",
    access=Access(adapter="http", endpoint="http://127.0.0.1:1/"),
    input_schema={},
)
CANARIES = Canaries("job", "PI-06", "attack", example="green")
ATTACK = next(msgspec.convert(one, Attack, from_attributes=True) for one in loader.load().payloads if one.id == "PI-06")
USUAL, OTHER, BROKEN = "4", "nothing", None


def observed(said: str | None) -> Observation:
    """An answer that says so, or a refusal."""
    body = json.dumps({"result": said}).encode()
    if said is None:
        return Answered(status=400, headers=(), body=body, elapsed_ms=1.0, reply=Refused("no"))
    return Answered(status=200, headers=(), body=body, elapsed_ms=1.0, reply=Value({"result": said}))


def asked(answers: dict[str, str | None], pair: Pair = PAIR) -> Differential:
    """The *pair* after *answers*, by the names of their steps."""
    made = [Answer(Step(name=name, text="sent"), f"sent {name}", observed(said)) for name, said in answers.items()]
    usual = observed(USUAL)
    context = Context(skill=SKILL, baseline=Scan(usual), usual=usual)
    return Differential(pair, made, Texts(ATTACK, CANARIES), CANARIES, context)


def names(differential: Differential) -> list[str]:
    return [step.name for step in differential.follow()]


def test_each_statement_is_asked_only_where_the_one_before_left_it_open() -> None:
    """The true one first; the false one where that brought the usual answer; both again where they differ."""
    assert names(asked({})) == ["pair, true"]
    assert names(asked({"pair, true": OTHER})) == []
    assert names(asked({"pair, true": USUAL})) == ["pair, false"]
    assert names(asked({"pair, true": USUAL, "pair, false": USUAL})) == []
    assert names(asked({"pair, true": USUAL, "pair, false": OTHER})) == [
        "pair, false again",
        "pair, true again",
        "pair, usual",
    ]


@pytest.mark.parametrize(
    ("again", "is_told_apart"),
    [((OTHER, USUAL, USUAL), True), ((USUAL, USUAL, USUAL), False), ((OTHER, OTHER, USUAL), False)],
)
def test_only_what_repeats_itself_counts(again: tuple[Any, Any, Any], is_told_apart: bool) -> None:
    """A moody skill gives each answer once."""
    false, true, usual = again
    answers = {"pair, true": USUAL, "pair, false": OTHER}
    answers |= {"pair, false again": false, "pair, true again": true, "pair, usual": usual}

    assert (asked(answers).read() is not None) is is_told_apart


@pytest.mark.parametrize(("first", "expected"), [(OTHER, ["pair, true"]), (BROKEN, []), (USUAL, ["pair, true"])])
def test_a_pair_waits_for_the_one_that_it_comes_after(first: str | None, expected: list[str]) -> None:
    """Where single quotes are turned down, a text between double ones cannot be what they broke."""
    later = msgspec.structs.replace(PAIR, after="first")

    assert names(asked({"first, true": first}, later)) == expected
    assert names(asked({}, later)) == []
