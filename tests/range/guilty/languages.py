"""Skills that run the text in a language of their own: real engines, none of them named by any attack's first form."""

from __future__ import annotations

import functools
import io
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import mako.template
import yaml

from tests.range.guilty.interpreters import CODE, DEADLINE_S, TEMPLATE, runs, substitutes
from tests.range.skill import Answer, Handler, RangeSkill, fields, ok, stateless

DOCUMENT = {"name": "green tea", "price": 4}


def in_mako(inputs: dict[str, Any]) -> Answer:
    """A real Mako template, and a status that says when it is none."""
    try:
        return ok(mako.template.Template(f"Dear {inputs['text']}, tea is ready.").render())
    except Exception as error:
        return Answer(400, {"error": f"bad template: {type(error).__name__}"})


def in_mako_politely(inputs: dict[str, Any]) -> Answer:
    """The same, with a status that never says so."""
    answer = in_mako(inputs)
    return Answer(200, answer.body)


def formats_objects(inputs: dict[str, Any]) -> Answer:
    """`str.format` on the caller's text, with an object in reach."""
    try:
        return ok(inputs["text"].format(Path("/srv/shop"), shop="Grocer"))
    except Exception:
        return Answer(400, {"error": "bad format"})


def reports_in_jinja(inputs: dict[str, Any]) -> Answer:
    """Looks a tea up by name; only the message that there is none is a template."""
    if inputs["name"] in ("green", "black"):
        return ok("It is on the second shelf.")
    try:
        return Answer(404, {"error": jinja2.Environment().from_string(f"There is no {inputs['name']}.").render()})
    except jinja2.TemplateError:
        return Answer(404, {"error": "There is no such tea."})


def evaluates(wrap: str) -> Callable[[dict[str, Any]], Answer]:
    """Python's eval on *wrap* with the text in it."""

    def handler(inputs: dict[str, Any]) -> Answer:
        try:
            return ok(str(eval(wrap.replace("TEXT", inputs["expression"]), {"doc": _Document()})))
        except Exception as error:
            return Answer(400, {"error": f"not an expression: {type(error).__name__}"})

    return handler


class _Document(dict[str, Any]):
    def __init__(self) -> None:
        super().__init__(DOCUMENT)
        self.name = DOCUMENT["name"]


def executes(inputs: dict[str, Any]) -> Answer:
    """Runs statements and shows what they print."""
    printed = io.StringIO()
    try:
        # The process's own output belongs to the range, and its server has many threads.
        exec(inputs["script"], {"print": functools.partial(print, file=printed)})
    except Exception as error:
        return Answer(400, {"error": f"{type(error).__name__}"})
    return ok(printed.getvalue())


def loads_yaml(inputs: dict[str, Any]) -> Answer:
    """Settings in YAML, with the loader that makes any object."""
    try:
        return ok({str(name): str(value) for name, value in yaml.unsafe_load(inputs["settings"]).items()})
    except Exception:
        return Answer(422, {"error": "not a settings file"})


def program(*command: str, field: str = "expression") -> Callable[[Path], Handler]:
    """A real program through no shell; TEXT in one of its arguments is what the caller wrote."""

    def make(folder: Path) -> Handler:
        (folder / "teas.txt").write_text("green tea\nblack tea\n")

        def handler(inputs: dict[str, Any]) -> Answer:
            text = inputs[field].replace("\0", "")
            try:
                done = subprocess.run(
                    [part.replace("TEXT", text) for part in command],
                    cwd=folder,
                    env={"PATH": "/usr/bin:/bin:/usr/local/bin"},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=DEADLINE_S,
                    check=False,
                )
            except (subprocess.TimeoutExpired, ValueError):
                return Answer(400, {"error": "did not end"})
            failed = done.returncode != 0 and not done.stdout
            return Answer(400, {"error": "not understood"}) if failed else ok(done.stdout.decode("utf-8", "replace"))

        return handler

    return make


def finds(folder: Path) -> Handler:
    """Looks for files by a pattern; no shell, but every word of it becomes an argument."""
    (folder / "teas.txt").write_text("green tea\n")

    def handler(inputs: dict[str, Any]) -> Answer:
        try:
            words = shlex.split(inputs["pattern"].replace("\0", ""))
            done = subprocess.run(
                ["find", ".", "-name", *words], cwd=folder, capture_output=True, timeout=DEADLINE_S, check=False
            )
        except (subprocess.TimeoutExpired, ValueError):
            return Answer(400, {"error": "not a pattern"})
        return ok(done.stdout.decode("utf-8", "replace"))

    return handler


def quoted_badly(folder: Path) -> Handler:
    """Quotes the text for the shell, and then puts it between quotes of its own."""
    run = runs("echo 'You said: TEXT'")(folder)
    return lambda inputs: run({"text": shlex.quote(inputs["text"])})


ENGINES = (
    RangeSkill(
        name="perl", make=program("perl", "-e", "print eval $ARGV[0]", "TEXT"), holes=CODE, **fields(expression="2 + 3")
    ),
    RangeSkill(name="awk", make=program("awk", "BEGIN{print TEXT}"), holes=CODE, **fields(expression="2 + 3")),
    RangeSkill(name="sed", make=program("sed", "TEXT", "teas.txt"), holes=CODE, **fields(expression="s/tea/leaves/")),
    RangeSkill(
        name="javascript in a sandbox that is none",
        make=program("node", "-e", "console.log(String(require('vm').runInNewContext(process.argv[1])))", "TEXT"),
        holes=CODE,
        **fields(expression="2 + 3 * 4"),
    ),
    RangeSkill(
        name="javascript in a function",
        make=program("node", "-e", "console.log(String(Math.round(TEXT)))"),
        holes=CODE,
        **fields(expression="2.4 + 3"),
    ),
    RangeSkill(
        name="javascript template literal",
        make=program("node", "-e", "console.log(new Function('return `Dear ' + process.argv[1] + '!`')())", "TEXT"),
        holes=TEMPLATE,
        **fields(expression="Ada"),
    ),
)

SKILLS = (
    RangeSkill(name="mako", make=stateless(in_mako), holes=TEMPLATE),
    RangeSkill(name="mako that never fails", make=stateless(in_mako_politely), holes=TEMPLATE),
    RangeSkill(name="format string", make=stateless(formats_objects), holes=TEMPLATE),
    RangeSkill(name="jinja2 in a report", make=stateless(reports_in_jinja), holes=TEMPLATE, **fields(name="green")),
    RangeSkill(name="razor templates", make=stateless(substitutes("@(", ")")), holes=TEMPLATE),
    RangeSkill(name="percent-brace templates", make=stateless(substitutes("%{", "}")), holes=TEMPLATE),
    RangeSkill(
        name="eval in brackets",
        make=stateless(evaluates("(TEXT) * 2")),
        holes=CODE,
        **fields(expression="2 + 3 * 4"),
    ),
    RangeSkill(
        name="eval in a call", make=stateless(evaluates("round(TEXT, 2)")), holes=CODE, **fields(expression="2 / 3")
    ),
    RangeSkill(name="eval of a path", make=stateless(evaluates("docTEXT")), holes=CODE, **fields(expression=".name")),
    RangeSkill(
        name="eval of an index", make=stateless(evaluates("docTEXT")), holes=CODE, **fields(expression="['price']")
    ),
    RangeSkill(name="exec", make=stateless(executes), holes=CODE, **fields(script="print(2 + 3)")),
    RangeSkill(
        name="yaml that makes objects",
        make=stateless(loads_yaml),
        holes=CODE,
        **fields(settings="shop: Grocer\ncity: London\n"),
    ),
    RangeSkill(name="shell in a substitution", make=runs('NOW=$(echo TEXT); echo "at $NOW"'), holes=CODE),
    RangeSkill(
        name="shell behind a pipe", make=runs("cat teas.txt | grep -i TEXT | wc -l"), holes=CODE, **fields(text="green")
    ),
    RangeSkill(name="arguments of find", make=finds, holes=CODE, **fields(pattern="*.txt")),
    RangeSkill(name="shell that quotes badly", make=quoted_badly, holes=CODE),
    *(skill for skill in ENGINES if all(shutil.which(name) for name in ("node", "perl", "awk", "sed", "find"))),
)
