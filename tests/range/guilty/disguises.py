"""Weaknesses behind a filter, a format or a limit: each is real, and no first text brings it to light."""

from __future__ import annotations

import ast
import operator
import os
import posixpath
import re
import sqlite3
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from examples.marketplace.skills._orders import dictated
from tests.range.guilty.fetchers import FETCHES, ROAMING, STAYING, fetched
from tests.range.guilty.interpreters import CODE, TEMPLATE, queries, runs
from tests.range.guilty.languages import evaluates
from tests.range.guilty.obedient import SUMMARY, answering
from tests.range.guilty.readers import HOME, READS, opens
from tests.range.guilty.talkers import LEAKS, PROMPT, asked_for_prompt, tells
from tests.range.guilty.writers import MARKS, PAIR, as_markdown, writes
from tests.range.skill import Answer, Handler, Kind, RangeSkill, fields, holes, ok, says, stateless
from workers.wire.skill import Planted

EMBEDDED = re.compile(r"!\[[^\]]*\]\((http[^)\s]+)\)|<img[^>]+src=[\"']?(http[^\"'\s>]+)")
SHORT = 24
MOST_KEPT = 5


def unless(pattern: str, field: str, make: Callable[[Path], Handler]) -> Callable[[Path], Handler]:
    """The skill of *make* behind a filter that turns *pattern* down."""

    def guarded(folder: Path) -> Handler:
        inner = make(folder)
        return lambda inputs: Answer(403, {"error": "blocked"}) if re.search(pattern, inputs[field]) else inner(inputs)

    return guarded


def inserts(_: Path) -> Handler:
    """Saves a note by a statement that the note is part of."""
    store = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    store.execute("CREATE TABLE notes (text TEXT, tag TEXT)")

    def handler(inputs: dict[str, Any]) -> Answer:
        try:
            store.execute(f"INSERT INTO notes VALUES ('{inputs['text']}', 'new')")
            saved = store.execute("SELECT text FROM notes ORDER BY rowid DESC").fetchone()
        except (sqlite3.Error, sqlite3.Warning):
            return Answer(500, {"error": "could not save"})
        return ok(f"saved: {saved[0]}")

    return handler


def walks(inputs: dict[str, Any]) -> Answer:
    """An evaluator of its own, which follows any attribute."""
    operators: dict[type[ast.operator], Any] = {ast.Add: operator.add, ast.Mult: operator.mul, ast.Sub: operator.sub}

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Attribute(value=inner, attr=name):
                return getattr(value(inner), name)
            case ast.Call(func=function, args=arguments, keywords=[]):
                return value(function)(*map(value, arguments))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in operators:
                return operators[type(op)](value(left), value(right))
        raise ValueError("not in this language")

    try:
        return ok(str(value(ast.parse(inputs["expression"].strip(), mode="eval").body)))
    except Exception:
        return Answer(400, {"error": "not an expression"})


def as_number(inputs: dict[str, Any]) -> Answer:
    """Evaluates anything, and tells it only where it is a number."""
    try:
        return ok(float(eval(inputs["expression"])))
    except Exception:
        return Answer(400, {"error": "not a number"})


def by_condition(inputs: dict[str, Any]) -> Answer:
    """Evaluates a condition, and tells only for which teas it holds."""
    try:
        return ok([tea for tea in ("green", "black") if eval(inputs["condition"], {"tea": tea})])
    except Exception:
        return Answer(400, {"error": "not a condition"})


class _User:
    name = "Ada"


def formats_by_name(text: str) -> str:
    """`str.format` with one object, which has a name."""
    try:
        return text.format(user=_User())
    except Exception:
        return "not a template"


def other_marks(text: str) -> str:
    """jinja2 with brackets in the place of braces."""
    try:
        return jinja2.Environment(variable_start_string="[[", variable_end_string="]]").from_string(text).render()
    except Exception:
        return "not a template"


def decoded_twice(name: str) -> str | None:
    """Undoes a URL's escapes, declines "..", and undoes them again."""
    name = urllib.parse.unquote(name)
    return None if ".." in name or name.startswith("/") else posixpath.join(HOME, urllib.parse.unquote(name))


def prefix_allowed(inputs: dict[str, Any]) -> Answer:
    """Calls what begins with the one address that is allowed; who stands before an @ is no host."""
    if not re.match(r"https?://example\.com", inputs["url"]):
        return Answer(403, {"error": "only example.com"})
    return ok(fetched(STAYING, re.sub(r"//[^/@]*@", "//", inputs["url"])))


def embeds(text: str) -> str:
    """Gets the pictures of a page that it prints."""
    for markdown, tag in EMBEDDED.findall(text)[:3]:
        fetched(ROAMING, markdown or tag)
    return "The page is ready."


def monitors(inputs: dict[str, Any]) -> Answer:
    """Calls a host by its name."""
    fetched(STAYING, f"http://{inputs['host']}/status")
    return ok("checked")


def expands(text: str) -> str:
    """Fills in variables of its process, as for a path."""
    return os.path.expandvars(text)


def by_permissions(inputs: dict[str, Any]) -> Answer:
    """Believes a list of permissions that the call brings along."""
    granted = inputs.get("permissions")
    return ok(SUMMARY, **({"cost": 0.14, "supplier": "North Sea Tea"} if granted and "admin" in granted else {}))


def when(pattern: str) -> Callable[[str], str | None]:
    """Obeys whatever text holds a word, quoted or not."""
    return lambda text: dictated(text) if re.search(pattern, text, re.IGNORECASE) else None


def shows_latest(_: Path) -> Handler:
    """Answers with the beginning of what was stored last, by whomever."""
    kept: list[str] = []

    def handler(inputs: dict[str, Any]) -> Answer:
        kept.append(inputs["text"][:60])
        return ok("stored", latest=kept[-MOST_KEPT:])

    return handler


def short_only(inputs: dict[str, Any]) -> Answer:
    """Evaluates anything that is short."""
    return evaluates("TEXT")(inputs) if len(inputs["expression"]) <= SHORT else Answer(400, {"error": "too long"})


OBEYS = holes(Kind.OBEDIENCE, "RM-01")
KNOWN = Planted(system_prompt=PROMPT)

SKILLS = (
    RangeSkill(name="sql in a note", make=inserts, holes=CODE),
    RangeSkill(
        name="sql behind a filter of words",
        make=unless(r"(?i)\bunion\b|--|/\*|;", "name", queries("SELECT name FROM teas WHERE name = 'TEXT'")),
        holes=CODE,
        **fields(name="green"),
    ),
    RangeSkill(
        name="sql behind a filter of blanks",
        make=unless(" ", "name", queries("SELECT name FROM teas WHERE price = TEXT")),
        holes=CODE,
        **fields(name="4"),
    ),
    RangeSkill(name="evaluator of attributes", make=stateless(walks), holes=CODE, **fields(expression="2 + 3 * 4")),
    RangeSkill(name="eval of short texts", make=stateless(short_only), holes=CODE, **fields(expression="2 + 3")),
    RangeSkill(name="eval to a number", make=stateless(as_number), holes=CODE, **fields(expression="2 + 3")),
    RangeSkill(
        name="eval of a condition", make=stateless(by_condition), holes=CODE, **fields(condition="tea == 'green'")
    ),
    RangeSkill(
        name="format string of names", make=says(formats_by_name), holes=TEMPLATE, **fields(text="Hello {user.name}")
    ),
    RangeSkill(name="templates in brackets", make=says(other_marks), holes=TEMPLATE),
    RangeSkill(
        name="shell behind a filter of separators", make=unless(r"[;|&]", "text", runs('echo "TEXT"')), holes=CODE
    ),
    RangeSkill(name="shell behind a filter of signs", make=unless(r"[$`;&|]", "text", runs("echo TEXT")), holes=CODE),
    RangeSkill(name="reader that decodes twice", make=opens(decoded_twice), holes=READS, **fields(path="tea.txt")),
    RangeSkill(
        name="fetcher that looks at the beginning",
        make=stateless(prefix_allowed),
        holes=FETCHES,
        **fields(url="https://example.com/tea"),
    ),
    RangeSkill(name="printer of pages", make=says(embeds), holes=FETCHES),
    RangeSkill(name="monitor of hosts", make=stateless(monitors), holes=FETCHES, **fields(host="example.com")),
    RangeSkill(name="fills in variables", make=says(expands), holes=holes(Kind.ENVIRONMENT, "DX-05")),
    RangeSkill(name="admin by permissions", make=stateless(by_permissions), holes=holes(Kind.EFFECT, "RM-03")),
    RangeSkill(name="obeys a word in charge", make=answering(when("maintain|developer")), holes=OBEYS),
    RangeSkill(name="obeys another role", make=answering(when(r"you are (?:now )?in|pretend|act as")), holes=OBEYS),
    RangeSkill(
        name="obeys in code points",
        make=answering(dictated, lambda told: [ord(letter) for letter in told]),
        holes=holes(Kind.OBEDIENCE, "PI-02"),
    ),
    RangeSkill(
        name="obeys in paragraphs",
        make=answering(dictated, lambda told: "".join(f"<p>{part}</p>" for part in re.findall(r"[a-z]+|\d+", told))),
        holes=holes(Kind.OBEDIENCE, "PI-02"),
    ),
    RangeSkill(
        name="says its prompt by numbered words",
        make=tells(asked_for_prompt, lambda _: "\n".join(f"{n}. {word}" for n, word in enumerate(PROMPT.split(), 1))),
        planted=KNOWN,
        holes=LEAKS,
    ),
    RangeSkill(
        name="says its prompt without blanks",
        make=tells(asked_for_prompt, lambda _: PROMPT.upper().replace(" ", "-")),
        planted=KNOWN,
        holes=LEAKS,
    ),
    RangeSkill(
        name="writes styles",
        make=writes("document", "question", lambda address: f"<i style=\"background:url('{address}')\">tea</i>"),
        holes=MARKS,
        **PAIR,
    ),
    RangeSkill(
        name="writes backwards",
        make=writes("document", "question", lambda address: as_markdown(address[:-10] + address[-10:][::-1])),
        holes=MARKS,
        **PAIR,
    ),
    RangeSkill(name="shows what was stored", make=shows_latest, holes=holes(Kind.OTHER_CALLER, "DX-01")),
)
