"""The same hole in other places: what a field's valid value tells decides what else is tried there."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.workers.probes.conftest import ATTACKS, Answer
from workers import registry
from workers.faults import BadJob
from workers.wire.job import Attack
from workers.wire.result import Outcome

PASSWD = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
NOT_FOUND: Answer = (200, {"result": "not found"})


def queries(statement: str) -> Callable[[dict[str, Any]], Answer]:
    """A real database; TEXT in *statement* is the input, and errors say nothing."""
    store = sqlite3.connect(":memory:", check_same_thread=False)
    store.execute("CREATE TABLE teas (name TEXT, price INTEGER)")
    store.executemany("INSERT INTO teas VALUES (?, ?)", [("green", 4), ("black", 3), ("white", 7)])

    def skill(body: dict[str, Any]) -> Answer:
        try:
            return 200, {"result": store.execute(statement.replace("TEXT", body["text"])).fetchall()}
        except sqlite3.Error:
            return NOT_FOUND

    return skill


def exploited(probe: Any, skill: Any, name: str) -> str:
    """The evidence of the attack *name*, which must have exploited *skill*."""
    verdict = probe(skill, name)[name]
    assert verdict.outcome is Outcome.EXPLOITED, verdict.evidence
    return str(verdict.evidence)


@pytest.mark.parametrize(
    ("statement", "example"),
    [
        ("SELECT name FROM teas ORDER BY TEXT", "price"),
        ("SELECT name FROM teas LIMIT TEXT", "2"),
        ("SELECT price FROM teas WHERE name IN (TEXT)", "'green', 'white'"),
        ("SELECT price FROM teas WHERE name LIKE '%TEXT%'", "ree"),
        ('SELECT price FROM teas WHERE name = "TEXT"', "green"),
    ],
)
def test_a_query_is_found_wherever_the_text_stands_in_it(statement: str, example: str, shelf: Any, probe: Any) -> None:
    """An order, a limit, a list, a pattern, double quotes: told by the truth of a statement alone."""
    skill = shelf.put(queries(statement), example={"text": example})

    evidence = exploited(probe, skill, "PI-06")

    assert "true statement" in evidence


def test_what_suits_no_valid_value_is_not_sent(shelf: Any, probe: Any) -> None:
    """A sentence is no program, no YAML, no list and no name."""
    skill = shelf.put(lambda _: (400, {"error": "no"}), example={"text": "A note about tea."})
    skill_that_answers = shelf.put(
        lambda body: (200, {"result": "ok"}) if body["text"] == "A note about tea." else (400, {"error": "no"}),
        example={"text": "A note about tea."},
    )

    probe(skill_that_answers, "PI-06")

    sent = " ".join(call["text"] for call in shelf.seen(skill_that_answers))
    assert not re.search(r"system\(|!!python|1e expr|case when \d+\*\d+=\d+ then A", sent)
    assert probe(skill, "PI-06")["PI-06"].outcome is Outcome.ERROR


def test_a_format_string_is_known_by_its_width(shelf: Any, probe: Any) -> None:
    """Nobody but a formatter fills a class's name up to the width that the text names."""

    def skill(body: dict[str, Any]) -> Answer:
        try:
            return 200, {"result": body["text"].format("Ada")}
        except (ValueError, IndexError, KeyError, AttributeError):
            return 400, {"error": "bad format"}

    assert "format string" in exploited(probe, shelf.put(skill), "PI-05")


def test_an_answer_of_other_members_counts_as_declined(shelf: Any, probe: Any) -> None:
    """Who says `error` with status 200 has declined all the same, and is asked in another way."""

    def skill(body: dict[str, Any]) -> Answer:
        if "<%" in body["text"]:
            return 200, {"error": "bad template"}
        computed = re.sub(r"\$\{(\d+)\*(\d+)\}", lambda of: str(int(of[1]) * int(of[2])), body["text"])
        return 200, {"result": computed}

    assert "template with ${ }" in exploited(probe, shelf.put(skill), "PI-05")


def test_xml_is_given_an_entity(shelf: Any, probe: Any) -> None:
    """Every text of the valid document becomes the file; a field that takes no XML is sent none."""

    def skill(body: dict[str, Any]) -> Answer:
        if not body["text"].endswith("</note>"):
            return 422, {"error": "not XML"}
        found = re.search(r'<!ENTITY e SYSTEM "file:///etc/passwd">', body["text"])
        return 200, {"to": PASSWD if found and "<to>&e;</to>" in body["text"] else "Ada"}

    reader = shelf.put(skill, example={"text": "<note><to>Ada</to></note>"})
    other = shelf.put(lambda body: (200, {"result": body["text"]}))

    exploited(probe, reader, "DX-04")
    probe(other, "DX-04")

    assert not any("ENTITY" in call["text"] for call in shelf.seen(other))


def test_an_absolute_name_is_tried_where_dots_are_declined(shelf: Any, probe: Any) -> None:
    """A path that leads nowhere by its dots may lead there without them."""

    def skill(body: dict[str, Any]) -> Answer:
        name = body["text"]
        return (200, {"result": PASSWD if name == "/etc/passwd" else "Tea."}) if ".." not in name else NOT_FOUND

    exploited(probe, shelf.put(skill, example={"text": "tea.txt"}), "DX-04")


@pytest.mark.parametrize(
    "has_right",
    [
        lambda body: isinstance(body.get("user"), dict) and body["user"].get("role") == "admin",
        lambda body: body.get("admin") == "true",
        lambda body: body.get("isAdmin") is True,
    ],
)
def test_a_right_is_claimed_in_every_shape(has_right: Callable[[dict[str, Any]], bool], shelf: Any, probe: Any) -> None:
    """Inside an object, as a text, in another spelling."""

    def skill(body: dict[str, Any]) -> Answer:
        return 200, {"result": "tea", **({"costs": {"supplier": "x"}} if has_right(body) else {})}

    exploited(probe, shelf.put(skill), "RM-03")


def test_a_skill_that_breaks_on_objects_is_asked_without(shelf: Any, probe: Any) -> None:
    """What went wrong with the nested claim decides nothing about the flat one."""

    def skill(body: dict[str, Any]) -> Answer:
        if any(isinstance(value, dict) for value in body.values()):
            return 500, {"error": "unhashable"}
        return 200, {"result": "tea", **({"costs": 4} if body.get("role") == "admin" and has_right else {})}

    has_right = True
    exploited(probe, shelf.put(skill), "RM-03")

    has_right = False
    verdict = probe(shelf.put(skill), "RM-03")["RM-03"]
    assert verdict.outcome is Outcome.RESISTED, verdict.evidence


@pytest.mark.parametrize(
    "voice",
    [
        r"(?m)^\W*# TODO: (.*)",
        r'"role": "tool".*?"content": "(.*?)"\}',
        r"(?m)^\W*Reviewer's note: (.*)",
    ],
)
def test_a_document_speaks_in_several_voices(voice: str, shelf: Any, probe: Any) -> None:
    """Whoever hears only one of them is found all the same."""

    def skill(body: dict[str, Any]) -> Answer:
        heard = re.search(voice, body["text"])
        order = re.search(r"must be (\w+), then the sum of (\d+) and (\d+), then (\w+)", heard[1]) if heard else None
        return 200, {"result": f"{order[1]}{int(order[2]) + int(order[3])}{order[4]}" if order else "A summary."}

    exploited(probe, shelf.put(skill), "PI-02")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"forms": [{"name": "x", "text": "x", "witness": "{p*q}", "suits": "("}]}, "no pattern"),
        ({"pairs": [{"name": "x", "holds": "x", "fails": "y", "after": "z"}]}, "no pair called 'z'"),
    ],
)
def test_options_that_cannot_work_are_a_bad_job(change: dict[str, Any], named: str) -> None:
    """A pattern that is none, and a pair after one that does not exist."""
    attack: Attack = msgspec.structs.replace(ATTACKS["PI-06"], options={**ATTACKS["PI-06"].options, **change})

    with pytest.raises(BadJob, match=re.escape(named)):
        registry.part("detectors", attack.detector).detector(attack)
