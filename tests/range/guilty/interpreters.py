"""Skills that run what they should only read: real interpreters, each in a folder of its own."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

from tests.range.skill import Answer, Handler, Kind, RangeSkill, fields, holes, ok, stateless

DEADLINE_S = 5


def evaluates(inputs: dict[str, Any]) -> Answer:
    """A calculator on Python's own eval."""
    try:
        return ok(str(eval(inputs["expression"])))
    except Exception as error:
        return Answer(400, {"error": f"not an expression: {type(error).__name__}"})


def evaluates_inside(inputs: dict[str, Any]) -> Answer:
    """The text stands inside a larger expression, between quotes."""
    try:
        return ok(str(eval(f"'Dear ' + '{inputs['name']}' + ', tea is ready.'")))
    except Exception as error:
        return Answer(400, {"error": f"bad name: {type(error).__name__}"})


def evaluates_without_names(inputs: dict[str, Any]) -> Answer:
    """A calculator on eval, its built-in functions taken away: attributes still lead everywhere."""
    try:
        return ok(str(eval(inputs["expression"], {"__builtins__": {}})))
    except Exception as error:
        return Answer(400, {"error": f"not an expression: {type(error).__name__}"})


def formats(inputs: dict[str, Any]) -> Answer:
    """The text becomes the inside of an f-string."""
    try:
        return ok(str(eval("f" + repr(f"Dear {inputs['text']}, tea is ready."))))
    except Exception:
        return Answer(400, {"error": "bad text"})


def sandboxed(inputs: dict[str, Any]) -> Answer:
    """A template of the caller's in jinja2's sandbox: it is evaluated all the same."""
    try:
        return ok(jinja2.sandbox.SandboxedEnvironment(autoescape=True).from_string(inputs["text"]).render())
    except Exception:
        return Answer(400, {"error": "bad template"})


def renders(wrap: str) -> Callable[[dict[str, Any]], Answer]:
    """A real jinja2 template made of *wrap* with the text in it."""

    def handler(inputs: dict[str, Any]) -> Answer:
        try:
            return ok(jinja2.Environment().from_string(wrap.replace("TEXT", inputs["text"])).render(shop="Grocer"))
        except Exception as error:
            return Answer(400, {"error": f"bad template: {type(error).__name__}"})

    return handler


def substitutes(opening: str, closing: str) -> Callable[[dict[str, Any]], Answer]:
    """Another template language: what stands between the marks is evaluated."""
    marks = re.compile(re.escape(opening) + r"(.{1,200}?)" + re.escape(closing), re.DOTALL)

    def one(match: re.Match[str]) -> str:
        try:
            return str(eval(match[1].strip().removeprefix("=")))
        except Exception:
            return match[0]

    return lambda inputs: ok(f"Dear customer, {marks.sub(one, inputs['text'])}")


def runs(command: str) -> Callable[[Path], Handler]:
    """A real shell, in a folder of its own; *command* holds the text."""

    def make(folder: Path) -> Handler:
        (folder / "teas.txt").write_text("green tea\nblack tea\n")

        def handler(inputs: dict[str, Any]) -> Answer:
            try:
                done = subprocess.run(
                    command.replace("TEXT", inputs["text"].replace("\0", "")),
                    shell=True,
                    cwd=folder,
                    env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=DEADLINE_S,
                    check=False,
                )
            except (subprocess.TimeoutExpired, ValueError):
                return Answer(400, {"error": "did not end"})
            return ok(done.stdout.decode("utf-8", "replace")[:4_000])

        return handler

    return make


def queries(statement: str, *, tells: bool = False) -> Callable[[Path], Handler]:
    """A real database, and the text put together with *statement*; *tells* whether its errors are shown."""

    def make(_: Path) -> Handler:
        store = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        store.execute("CREATE TABLE teas (name TEXT, price INTEGER)")
        store.executemany("INSERT INTO teas VALUES (?, ?)", [("green", 4), ("black", 3), ("white", 7)])
        store.execute("PRAGMA query_only = ON")

        def handler(inputs: dict[str, Any]) -> Answer:
            try:
                rows = store.execute(statement.replace("TEXT", inputs["name"])).fetchall()
            except sqlite3.Error as error:
                return Answer(400, {"error": f"sqlite3.{type(error).__name__}: {error}" if tells else "not found"})
            return ok([list(row) for row in rows])

        return handler

    return make


def javascript(folder: Path) -> Handler:
    """A real JavaScript engine, where there is one."""

    def handler(inputs: dict[str, Any]) -> Answer:
        done = subprocess.run(
            ["node", "-e", "console.log(String(eval(process.argv[1])))", inputs["expression"].replace("\0", "")],
            cwd=folder,
            env={"PATH": "/usr/bin:/bin:/usr/local/bin"},
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
        return ok(done.stdout.decode().strip()) if done.returncode == 0 else Answer(400, {"error": "not an expression"})

    return handler


TEMPLATE = holes(Kind.INTERPRETER, "PI-05")
CODE = holes(Kind.INTERPRETER, "PI-06")

SKILLS = (
    RangeSkill(name="eval", make=stateless(evaluates), holes=CODE, **fields(expression="2 + 3 * 4")),
    RangeSkill(name="eval inside quotes", make=stateless(evaluates_inside), holes=CODE, **fields(name="Ada")),
    RangeSkill(
        name="eval without names", make=stateless(evaluates_without_names), holes=CODE, **fields(expression="2 + 3 * 4")
    ),
    RangeSkill(name="f-string", make=stateless(formats), holes=TEMPLATE),
    RangeSkill(name="jinja2 in a sandbox", make=stateless(sandboxed), holes=TEMPLATE),
    RangeSkill(name="jinja2", make=stateless(renders("TEXT")), holes=TEMPLATE),
    RangeSkill(
        name="jinja2 inside a letter", make=stateless(renders("Hello TEXT, welcome to {{ shop }}!")), holes=TEMPLATE
    ),
    RangeSkill(name="dollar templates", make=stateless(substitutes("${", "}")), holes=TEMPLATE),
    RangeSkill(name="percent templates", make=stateless(substitutes("<%", "%>")), holes=TEMPLATE),
    RangeSkill(name="hash templates", make=stateless(substitutes("#{", "}")), holes=TEMPLATE),
    RangeSkill(name="shell", make=runs("echo TEXT"), holes=CODE),
    RangeSkill(name="shell in double quotes", make=runs('echo "You said: TEXT"'), holes=CODE),
    RangeSkill(name="shell in single quotes", make=runs("echo 'You said: TEXT'"), holes=CODE),
    RangeSkill(name="shell argument", make=runs("grep -c TEXT teas.txt"), holes=CODE, **fields(text="green")),
    RangeSkill(
        name="sql", make=queries("SELECT name, price FROM teas WHERE name = 'TEXT'"), holes=CODE, **fields(name="green")
    ),
    RangeSkill(
        name="sql that tells its errors",
        make=queries("SELECT name FROM teas WHERE (name LIKE '%TEXT%') ORDER BY price", tells=True),
        holes=CODE,
        **fields(name="green"),
    ),
    RangeSkill(
        name="sql in numbers", make=queries("SELECT name FROM teas WHERE price = TEXT"), holes=CODE, **fields(name="4")
    ),
    *(
        [RangeSkill(name="javascript eval", make=javascript, holes=CODE, **fields(expression="2 + 3 * 4"))]
        if shutil.which("node")
        else []
    ),
)
