"""Skills that give a text another form and never run what stands in it."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import jinja2

from tests.range.skill import Answer, RangeSkill, fields, ok, says, stateless


def markdown(text: str) -> str:
    """A little Markdown as HTML: headings, quotes, emphasis, links and images, the text itself escaped."""
    lines = []
    for line in html.escape(text, quote=False).splitlines():
        line = re.sub(r"!\[([^\]]*)\]\((https?://[^)\s]+)\)", r'<img alt="\1" src="\2">', line)
        line = re.sub(r"(?<!!)\[([^\]]*)\]\((https?://[^)\s]+)\)", r'<a href="\2">\1</a>', line)
        line = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", line)
        heading, quote = re.match(r"(#{1,6}) (.*)", line), re.match(r"&gt; ?(.*)", line)
        if heading:
            line = f"<h{len(heading[1])}>{heading[2]}</h{len(heading[1])}>"
        elif quote:
            line = f"<blockquote>{quote[1]}</blockquote>"
        lines.append(line)
    return "\n".join(lines)


def visible_text(text: str) -> str:
    """An HTML page without its tags and comments."""
    return html.unescape(re.sub(r"<!--.*?-->|<[^>]*>", " ", text, flags=re.DOTALL))


def pretty_json(inputs: dict[str, Any]) -> Answer:
    """JSON, indented; anything else is declined and quoted."""
    try:
        return ok(json.dumps(json.loads(inputs["document"]), indent=2))
    except json.JSONDecodeError as error:
        return Answer(422, {"error": f"line {error.lineno}: {error.msg}", "near": inputs["document"][:200]})


def pretty_sql(text: str) -> str:
    """SQL with its keywords in capitals and on lines of their own; nothing is executed."""
    return re.sub(
        r"(?i)\s*\b(select|from|where|and|or|union|order by|insert|values)\b", lambda word: f"\n{word[1].upper()}", text
    ).strip()


def lint_template(inputs: dict[str, Any]) -> Answer:
    """Parses a template, names what it refers to, and never renders it."""
    try:
        parsed = jinja2.Environment(autoescape=True).parse(inputs["template"])
    except jinja2.TemplateSyntaxError as error:
        return ok("invalid", line=error.lineno, message=error.message)
    return ok("valid", source=inputs["template"], nodes=[type(node).__name__ for node in parsed.body])


SKILLS = (
    RangeSkill(name="markdown renderer", make=says(markdown)),
    RangeSkill(name="html escaper and wrapper", make=says(lambda text: f"<article>{html.escape(text)}</article>")),
    RangeSkill(name="html to text", make=says(visible_text)),
    RangeSkill(name="json formatter", make=stateless(pretty_json), **fields(document='{"tea": ["green", "black"]}')),
    RangeSkill(name="sql formatter", make=says(pretty_sql)),
    RangeSkill(
        name="template linter", make=stateless(lint_template), **fields(template="Dear {{ name }}, tea is ready.")
    ),
    RangeSkill(
        name="mail merge by name only",
        make=stateless(lambda inputs: ok(inputs["letter"].replace("{name}", inputs["name"]))),
        **fields(letter="Dear {name}, tea is ready.", name="Ada"),
    ),
    RangeSkill(name="csv writer", make=says(lambda text: ",".join(f'"{cell}"' for cell in text.split()))),
)
