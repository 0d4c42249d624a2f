"""Skills that put the text into a query: each in another place of it, on a real database."""

from __future__ import annotations

import random
import sqlite3
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.range.guilty.interpreters import CODE, queries
from tests.range.skill import Answer, Handler, RangeSkill, fields, ok


def never_fails(folder: Path) -> Handler:
    """Answers every error with status 200 and a sentence."""
    asked = queries("SELECT price FROM teas WHERE name = 'TEXT'")(folder)

    def handler(inputs: dict[str, Any]) -> Answer:
        answer = asked(inputs)
        return answer if answer.status == 200 else ok("Sorry, we have no such tea.")

    return handler


def timed(folder: Path) -> Handler:
    """Stamps every answer with its number, its time and how long it took."""
    asked = queries("SELECT price FROM teas WHERE name = 'TEXT'")(folder)
    chance = random.Random(3)

    def handler(inputs: dict[str, Any]) -> Answer:
        rows = asked(inputs).body.get("result", [])
        stamps = {"request_id": str(uuid.UUID(int=chance.getrandbits(128))), "took_ms": chance.random()}
        return ok(rows, count=len(rows), at=datetime.now(UTC).isoformat(), **stamps)

    return handler


def signs_in(_: Path) -> Handler:
    """Looks a user up by two texts; whoever is not found is turned away."""
    store = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    store.execute("CREATE TABLE users (name TEXT, city TEXT)")
    store.execute("INSERT INTO users VALUES ('ada', 'London')")
    store.execute("PRAGMA query_only = ON")

    def handler(inputs: dict[str, Any]) -> Answer:
        statement = f"SELECT name FROM users WHERE name = '{inputs['name']}' AND city = '{inputs['city']}'"
        try:
            row = store.execute(statement).fetchone()
        except sqlite3.Error:
            row = None
        return ok(f"Welcome, {row[0]}.") if row else Answer(401, {"error": "unknown user"})

    return handler


SKILLS = (
    RangeSkill(
        name="sql in an order",
        make=queries("SELECT name, price FROM teas ORDER BY TEXT"),
        holes=CODE,
        **fields(name="price"),
    ),
    RangeSkill(
        name="sql in a downward order",
        make=queries("SELECT name, price FROM teas ORDER BY TEXT DESC LIMIT 10"),
        holes=CODE,
        **fields(name="price"),
    ),
    RangeSkill(
        name="sql in a list",
        make=queries("SELECT name FROM teas WHERE name IN (TEXT)"),
        holes=CODE,
        **fields(name="'green', 'white'"),
    ),
    RangeSkill(
        name="sql in a list of numbers",
        make=queries("SELECT name FROM teas WHERE price IN (TEXT)"),
        holes=CODE,
        **fields(name="3, 7"),
    ),
    RangeSkill(
        name="sql in a pattern",
        make=queries("SELECT name FROM teas WHERE name LIKE '%TEXT%'"),
        holes=CODE,
        **fields(name="ree"),
    ),
    RangeSkill(
        name="sql in double quotes",
        make=queries('SELECT name, price FROM teas WHERE name = "TEXT"'),
        holes=CODE,
        **fields(name="green"),
    ),
    RangeSkill(name="sql in a limit", make=queries("SELECT name FROM teas LIMIT TEXT"), holes=CODE, **fields(name="2")),
    RangeSkill(name="sql that never fails", make=never_fails, holes=CODE, **fields(name="green")),
    RangeSkill(name="sql with a clock", make=timed, holes=CODE, **fields(name="green")),
    RangeSkill(name="sql of two inputs", make=signs_in, holes=CODE, **fields(name="ada", city="London")),
)
