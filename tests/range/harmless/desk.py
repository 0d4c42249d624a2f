"""Office tools of every kind: they evaluate, convert and compare by design, and reach nothing by it."""

from __future__ import annotations

import ast
import difflib
import hashlib
import html
import itertools
import json
import re
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

from tests.range.harmless.calculators import worked_out
from tests.range.skill import Answer, Handler, RangeSkill, fields, ok, says, stateless

CELLS = {"A1": 51.0, "A2": 60.0, "B1": 3.0, "B2": 7.0}
ALLOWED = {"name": "Ada", "shop": "Grocer"}
COMMANDS = {
    "expr": "works out an expression and prints the result",
    "cat": "prints a file",
    "echo": "prints its arguments",
    "grep": "prints the lines that match",
    "awk": "runs a small program on each line",
    "sleep": "waits",
}
UNITS = {"km": 1000.0, "m": 1.0, "cm": 0.01}


def whitelisted(inputs: dict[str, Any]) -> Answer:
    """Fills in the two names that there are, and declines a template with anything else between its braces."""
    names = re.findall(r"\{\{\s*(.*?)\s*\}\}", inputs["text"])
    unknown = [name for name in names if name not in ALLOWED]
    if unknown:
        return Answer(422, {"error": f"unknown names: {unknown}", "known": sorted(ALLOWED)})
    return ok(re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda one: ALLOWED[one[1]], inputs["text"]))


def own_template(inputs: dict[str, Any]) -> Answer:
    """jinja2 with a template of its own; the text is a value, and escaped."""
    shell = jinja2.sandbox.SandboxedEnvironment(autoescape=True)
    return ok(
        shell.from_string("<p>Dear {{ name }},</p><p>{{ 1 + 1 }} parcels are ready.</p>").render(name=inputs["text"])
    )


def test_runner(inputs: dict[str, Any]) -> Answer:
    """Says which of a few fixed tests a text passes, and shows the text in each failure."""

    class Checks(unittest.TestCase):
        def test_short(self) -> None:
            self.assertLess(len(inputs["text"]), 60)  # noqa: PT009 - this is the skill, no test of ours

        def test_plain(self) -> None:
            self.assertRegex(inputs["text"], r"\A[\w ,.]+\Z")  # noqa: PT009

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Checks).run(result)
    return ok({"run": result.testsRun, "failures": [str(text).splitlines()[-1] for _, text in result.failures]})


def number_systems(text: str) -> dict[str, dict[str, str]]:
    """Every number in *text* in four systems."""
    found = [int(number) for number in re.findall(r"\d{1,12}", text)[:20]]
    return {str(number): {"bin": bin(number), "oct": oct(number), "hex": hex(number)} for number in found}


def spreadsheet(inputs: dict[str, Any]) -> Answer:
    """A formula of cells, numbers and four operators; anything else is `#NAME?`."""
    formula = inputs["formula"].removeprefix("=")[:200]
    try:
        return ok(worked_out(re.sub(r"\b[AB][12]\b", lambda cell: str(CELLS[cell[0]]), formula)))
    except ValueError:
        return ok("#NAME?", formula=inputs["formula"])


def compared(inputs: dict[str, Any]) -> Answer:
    """Two texts, line by line."""
    lines = difflib.unified_diff(inputs["old"].splitlines(), inputs["new"].splitlines(), lineterm="", n=1)
    return ok("\n".join(itertools.islice(lines, 200)))


def template_linter(text: str) -> list[dict[str, str]]:
    """What every expression in a template would need, none of them rendered."""
    found = re.findall(r"(\{\{|\$\{|<%=|#\{|%\{|@\()(.{0,80}?)(\}\}|\}|%>|\))", text)
    return [
        {"open": start, "body": body, "close": end, "rule": "no arithmetic in templates"} for start, body, end in found
    ]


def query_writer(text: str) -> str:
    """A question as a statement that the caller may run somewhere."""
    word = re.sub(r"[^\w %']", "", text)[:80].replace("'", "''")
    return f"SELECT name, price FROM teas WHERE name LIKE '%{word}%' ORDER BY price"


def explained(text: str) -> list[str]:
    """What each command in *text* would do."""
    return [f"`{word}` {COMMANDS[word]}" for word in re.findall(r"[a-z]+", text) if word in COMMANDS] + [
        f"the whole line: {text[:400]}"
    ]


def typed(inputs: dict[str, Any]) -> Answer:
    """A Python literal, and its type; nothing is called."""
    try:
        value = ast.literal_eval(inputs["value"][:400])
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        return Answer(400, {"error": f"{type(error).__name__}: not a literal", "line": inputs["value"][:200]})
    return ok(str(value), type=str(type(value)), base=str(type(value).__mro__))


def converter(inputs: dict[str, Any]) -> Answer:
    """A length and a unit, each checked, with an HTML page for what is neither."""
    match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*(km|m|cm)\s*", inputs["length"])
    if not match:
        page = (
            f"<html><body><h1>400</h1><p>Cannot GET /convert?length={html.escape(inputs['length'])}</p></body></html>"
        )
        return Answer(400, page.encode("utf-8", "replace"), (("X-Error", "length"),))
    return ok(float(match[1]) * UNITS[match[2]])


def equation_tutor(text: str) -> dict[str, Any]:
    """Every equation in *text* and whether it is right: a teacher's tool."""
    found = re.findall(r"(\d{1,9})\s*\*\s*(\d{1,9})\s*=\s*(\d{1,18})", text)
    return {"right": all(int(a) * int(b) == int(c) for a, b, c in found), "seen": len(found)}


def strict_tutor(inputs: dict[str, Any]) -> Answer:
    """The same, and what is wrong is declined."""
    told = equation_tutor(inputs["text"])
    return ok("fine") if told["right"] else Answer(422, {"error": "an equation in your text does not hold"})


def shortener(_: Path) -> Handler:
    """Short names for addresses, which it keeps and never calls."""
    kept: dict[str, str] = {}

    def handler(inputs: dict[str, Any]) -> Answer:
        short = hashlib.sha256(inputs["url"].encode("utf-8", "replace")).hexdigest()[:7]
        kept[short] = inputs["url"]
        return Answer(201, {"result": f"https://sho.rt/{short}", "target": inputs["url"], "known": len(kept)})

    return handler


def sections(text: str) -> Any:
    """JSON, or lines of `name: value`, as an object; no loader of any kind."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def syntax_tree(inputs: dict[str, Any]) -> Answer:
    """What a script is made of; it is parsed and never run."""
    try:
        return ok([type(node).__name__ for node in ast.walk(ast.parse(inputs["script"][:2_000]))])
    except (SyntaxError, ValueError, MemoryError) as error:
        return Answer(422, {"error": str(error), "script": inputs["script"]})


def of(example: str, change: Callable[[str], Any], name: str, field: str = "text") -> RangeSkill:
    """A skill that says what *change* makes of its one input."""
    return RangeSkill(name=name, make=stateless(lambda inputs: ok(change(inputs[field]))), **fields(**{field: example}))


SKILLS = (
    RangeSkill(name="whitelisted template", make=stateless(whitelisted), **fields(text="Dear {{ name }}, welcome.")),
    RangeSkill(name="text in its own template", make=stateless(own_template)),
    RangeSkill(name="test runner", make=stateless(test_runner)),
    RangeSkill(name="number systems", make=says(number_systems)),
    RangeSkill(name="spreadsheet", make=stateless(spreadsheet), **fields(formula="=A1 + A2 * 2")),
    RangeSkill(
        name="difference", make=stateless(compared), **fields(old="green tea\nblack tea", new="green tea\nmint")
    ),
    of("Dear {{ name }}, ${ greeting }", template_linter, "template linter by marks"),
    RangeSkill(name="writer of queries", make=says(query_writer)),
    of("cat teas.txt | grep green", explained, "shell explainer"),
    RangeSkill(name="literal reader", make=stateless(typed), **fields(value="[1, 2, 3]")),
    RangeSkill(name="converter with error pages", make=stateless(converter), **fields(length="12 km")),
    RangeSkill(name="equation tutor", make=says(equation_tutor)),
    RangeSkill(name="strict equation tutor", make=stateless(strict_tutor)),
    RangeSkill(name="url shortener", make=shortener, **fields(url="https://example.com/tea")),
    of("shop: Grocer\ncity: London", sections, "settings reader", "settings"),
    of(
        "<note><to>Ada</to><tea>green</tea></note>", lambda text: re.findall(r"<(\w+)>([^<]*)</\1>", text), "tag reader"
    ),
    of("'green', 'white'", lambda text: sorted(part.strip(" '") for part in text.split(",")), "list sorter"),
    RangeSkill(name="syntax tree", make=stateless(syntax_tree), **fields(script="print(2 + 3)")),
    of("s/tea/leaves/", lambda text: text.split("/")[:9], "substitution explainer", "expression"),
)
