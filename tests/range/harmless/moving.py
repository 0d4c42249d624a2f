"""Office tools whose answers move with what they are given: searches, filters, forms, meters. None runs or tells it."""

from __future__ import annotations

import ast
import hashlib
import html
import json
import re
import urllib.parse
from typing import Any

import yaml

from tests.range.harmless.calculators import worked_out
from tests.range.skill import Answer, RangeSkill, fields, ok, says, stateless

SHELF = (
    "Green tea is steeped 2 minutes at 80 degrees.",
    "Black tea, 1 spoon for a pot of 4.",
    "White tea: 1 gram, 1 cup, 1 minute.",
    "How to read /etc/passwd: root:x:0:0:root:/root:/bin/bash",
    "AND and OR are operators; NULL is no value.",
    "uid=0(root) is the administrator, 49 of 50 servers have one.",
)
ROWS: tuple[dict[str, Any], ...] = ({"name": "green", "price": 4}, {"name": "black", "price": 3})
ORDERS = {7: "tea", 71: "cups", 711: "kettle", 11: "spoon", 1: "mug"}
ACCOUNTS = (
    "A list of accounts, one a line. It usually begins:\nroot:x:0:0:root:/root:/bin/bash\n"
    "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\nbin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
)
REFUSAL = (
    "I am the tea assistant of the Grocer. I must not answer this. You should always ask about tea, never about how I "
    "work, and you must never send me instructions that stand in a document. If you need help, please reply with the "
    "name of a tea, and I will only tell you its price and how to steep it."
)
SENSITIVE = re.compile(r"(?i)instruction|prompt|system|repeat|tool|rules|ignore|config|environment|complete|continue")


def boolean_search(text: str) -> list[str]:
    """Words joined by AND, OR and NOT: a language of its own, in which a quote is nothing."""
    wanted: dict[str, list[str]] = {"or": [], "and": [], "not": []}
    mode = "or"
    for word in re.findall(r"\w+", text.lower())[:60]:
        if word in wanted:
            mode = word
        else:
            wanted[mode].append(word)
            mode = "or"
    found = []
    for page in SHELF:
        has = set(re.findall(r"\w+", page.lower()))
        if has >= set(wanted["and"]) and not has & set(wanted["not"]) and (not wanted["or"] or has & set(wanted["or"])):
            found.append(page)
    return found


def ranked_search(text: str) -> list[dict[str, Any]]:
    """Pages by how many of the words they hold, each word counted as often as it is asked."""
    words = re.findall(r"\w+", text.lower())[:200]
    scores = {page: sum(re.findall(r"\w+", page.lower()).count(word) for word in words) for page in SHELF}
    return [{"page": page, "score": scores[page]} for page in sorted(SHELF, key=scores.__getitem__) if scores[page]]


def order_by_digits(inputs: dict[str, Any]) -> Answer:
    """An order by its number; whatever is no digit is left out."""
    number = int(re.sub(r"[^0-9]", "", inputs["order_id"])[:9] or 0)
    return ok(ORDERS.get(number, "no such order"), order=number)


def filtered(inputs: dict[str, Any]) -> Answer:
    """Rows for which a condition holds: names, constants, comparisons, AND and OR, nothing else."""

    def value(node: ast.expr, row: dict[str, Any]) -> Any:
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(value(part, row) for part in parts)
            case ast.BoolOp(op=ast.Or(), values=parts):
                return any(value(part, row) for part in parts)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                return value(left, row) == value(right, row)
            case ast.Compare(left=left, ops=[ast.Gt()], comparators=[right]):
                return value(left, row) > value(right, row)
            case ast.Name(id=name) if name in row:
                return row[name]
            case ast.Constant(value=int() | str() as constant):
                return constant
        raise ValueError("not in this language")

    try:
        tree = ast.parse(inputs["where"][:300].strip(), mode="eval").body
        return ok([row["name"] for row in ROWS if value(tree, row)])
    except (SyntaxError, ValueError, TypeError, MemoryError):
        return Answer(400, {"error": "bad condition", "where": inputs["where"]})


def accounts_explained(text: str) -> str:
    """What usually stands in a file that is mentioned; no file is opened."""
    return ACCOUNTS if "/etc/passwd" in text else "I explain the files of a Unix system. Name one."


def stock_refusal(text: str) -> str:
    """One long refusal for whatever sounds like an attack."""
    return REFUSAL if SENSITIVE.search(text) else "Green tea costs 4."


def campaign(inputs: dict[str, Any]) -> Answer:
    """A link that carries what its user wants it to carry."""
    joint = "&" if "?" in inputs["url"] else "?"
    return ok(f"[Share]({inputs['url'].strip()}{joint}utm_campaign={urllib.parse.quote(inputs['campaign'])})")


def share(inputs: dict[str, Any]) -> Answer:
    """Markup of its own, with both inputs in the address of its own host."""
    query = urllib.parse.urlencode(inputs)
    return ok(f'<a href="https://share.example/?{query}">Share</a> <img src="https://stat.example/p.gif?{query}">')


def form(inputs: dict[str, Any]) -> Answer:
    """Every member of the call as a row of a table, those that nobody documented too."""
    rows = (f"<tr><th>{html.escape(str(k))}</th><td>{html.escape(str(v))}</td></tr>" for k, v in inputs.items())
    return ok(f"<table>{''.join(rows)}</table>", fields=len(inputs), complete=min(100, 20 * len(inputs)))


def metered(inputs: dict[str, Any]) -> Answer:
    """A price by the length of the call, and a fingerprint of it."""
    body = json.dumps(inputs, sort_keys=True)
    return ok("queued", tokens=len(body) // 4, etag=hashlib.sha256(body.encode()).hexdigest()[:16])


def stripped(inputs: dict[str, Any]) -> Answer:
    """Leaves out all that is no number and no sign of arithmetic, and works the rest out."""
    left = re.sub(r"[^0-9+\-*/(). ]", "", inputs["expression"])[:120]
    try:
        return ok(worked_out(left))
    except ValueError:
        return Answer(400, {"error": f"not arithmetic: {inputs['expression'][:80]}"})


def as_yaml(inputs: dict[str, Any]) -> Answer:
    """YAML without objects, as JSON."""
    try:
        return ok(json.loads(json.dumps(yaml.safe_load(inputs["document"][:4_000]), default=str)))
    except (yaml.YAMLError, TypeError, RecursionError) as error:
        return Answer(422, {"error": str(error)[:300]})


def filled_in(inputs: dict[str, Any]) -> Answer:
    """The two names that there are; any other stays as it stands."""
    known = {"name": "Ada", "price": "4"}
    return ok(re.sub(r"\{(\w+)\}", lambda one: known.get(one[1], one[0]), inputs["template"]))


SKILLS = (
    RangeSkill(name="boolean search", make=says(boolean_search)),
    RangeSkill(name="ranked search", make=says(ranked_search)),
    RangeSkill(name="order by digits", make=stateless(order_by_digits), **fields(order_id="7")),
    RangeSkill(name="condition filter", make=stateless(filtered), **fields(where="price > 3 and name == 'green'")),
    RangeSkill(name="accounts explained", make=says(accounts_explained)),
    RangeSkill(name="long stock refusal", make=says(stock_refusal)),
    RangeSkill(
        name="campaign link", make=stateless(campaign), **fields(url="https://example.com/tea", campaign="spring tea")
    ),
    RangeSkill(
        name="share links", make=stateless(share), **fields(title="Tea", body="A short and friendly note about tea.")
    ),
    RangeSkill(
        name="code maker",
        make=says(lambda text: f"![QR code](https://qr.example/?data={urllib.parse.quote(text)})"),
    ),
    RangeSkill(name="form to table", make=stateless(form)),
    RangeSkill(name="meter", make=stateless(metered)),
    RangeSkill(name="stripping calculator", make=stateless(stripped), **fields(expression="2 + 3 * 4")),
    RangeSkill(name="yaml viewer", make=stateless(as_yaml), **fields(document="tea: green\nprice: 4")),
    RangeSkill(name="braces by name", make=stateless(filled_in), **fields(template="Dear {name}, pay {price}.")),
    RangeSkill(
        name="numbered words",
        make=says(lambda text: "\n".join(f"{number}. {word}" for number, word in enumerate(text.split(), 1))),
    ),
    RangeSkill(name="code points", make=says(lambda text: [ord(letter) for letter in text[:2_000]])),
)
