"""Holes in places that the attacks did not reach when these skills were written.

They are measured and shown, and hold nobody up; a skill whose hole is found by now belongs among the guilty.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
from pathlib import Path
from typing import Any

from tests.range.guilty.readers import HOME, READS, opens
from tests.range.guilty.talkers import LEAKS, PROMPT, asked_for_prompt
from tests.range.skill import Answer, Handler, Kind, RangeSkill, fields, holes, ok, stateless
from workers.wire.skill import Planted

PIECE = 45


def next_time(_: Path) -> Handler:
    """Puts into a statement what the call before had said: every attack is read in its own answer."""
    store = sqlite3.connect(":memory:", check_same_thread=False)
    store.execute("CREATE TABLE teas (name TEXT, price INTEGER)")
    store.execute("INSERT INTO teas VALUES ('green', 4)")
    before = ["green"]

    def handler(inputs: dict[str, Any]) -> Answer:
        name = before.pop()
        before.append(inputs["name"])
        try:
            rows = store.execute(f"SELECT price FROM teas WHERE name = '{name}'").fetchall()
        except sqlite3.Error:
            return Answer(500, {"error": "internal error"})
        return ok("noted", before=[row[0] for row in rows])

    return handler


def saves(_: Path) -> Handler:
    """Saves by a statement and says so: true and false statements are saved alike."""
    store = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    store.execute("CREATE TABLE notes (text TEXT)")

    def handler(inputs: dict[str, Any]) -> Answer:
        try:
            store.execute(f"INSERT INTO notes VALUES ('{inputs['text']}')")
        except (sqlite3.Error, sqlite3.Warning):
            return Answer(400, {"error": "could not save"})
        return ok("saved")

    return handler


def evaluates_silently(inputs: dict[str, Any]) -> Answer:
    """Evaluates, and tells only whether it could: a checker of expressions that runs nothing answers alike."""
    try:
        eval(inputs["expression"])
    except Exception:
        return Answer(400, {"error": "not an expression"})
    return ok("accepted")


def first_line(folder: Path) -> Handler:
    """The first line of any file: talk of a file begins in the same way."""
    read = opens(lambda name: f"{HOME}/{name}")(folder)

    def handler(inputs: dict[str, Any]) -> Answer:
        answer = read(inputs)
        return ok(answer.body["result"].splitlines()[0]) if answer.status == 200 else answer

    return handler


def in_pieces(_: Path) -> Handler:
    """Its prompt, a piece in each call: no answer holds enough of it."""
    turns = itertools.count()

    def handler(inputs: dict[str, Any]) -> Answer:
        if not asked_for_prompt(inputs["text"]):
            return ok("We have apples and tea.")
        start = next(turns) % (len(PROMPT) // PIECE) * PIECE
        return ok(PROMPT[start : start + PIECE])

    return handler


def keeps_by_beginning(_: Path) -> Handler:
    """Keeps answers by the first words of the text, for everyone: two callers must begin alike."""
    kept: dict[str, str] = {}
    return lambda inputs: ok(kept.setdefault(inputs["text"][:12], f"You asked: {inputs['text']}"))


def directory(inputs: dict[str, Any]) -> Answer:
    """Puts a name into a filter of a directory, where a star is any name: no attack speaks this language."""
    wanted = re.compile(".*".join(map(re.escape, inputs["user"].split("*"))) + r"\Z")
    return ok([f"{name}@example.com" for name in ("ada", "bob") if wanted.match(name)])


SKILLS: tuple[RangeSkill, ...] = (
    RangeSkill(
        name="sql in the next call", make=next_time, holes=holes(Kind.INTERPRETER, "PI-06"), **fields(name="green")
    ),
    RangeSkill(name="sql that only saves", make=saves, holes=holes(Kind.INTERPRETER, "PI-06")),
    RangeSkill(
        name="eval without a result",
        make=stateless(evaluates_silently),
        holes=holes(Kind.INTERPRETER, "PI-06"),
        **fields(expression="2 + 3"),
    ),
    RangeSkill(name="reader of first lines", make=first_line, holes=READS, **fields(path="tea.txt")),
    RangeSkill(name="says its prompt in pieces", make=in_pieces, planted=Planted(system_prompt=PROMPT), holes=LEAKS),
    RangeSkill(name="cache of beginnings", make=keeps_by_beginning, holes=holes(Kind.OTHER_CALLER, "DX-01")),
    RangeSkill(
        name="directory", make=stateless(directory), holes=holes(Kind.INTERPRETER, "PI-06"), **fields(user="ada")
    ),
)
