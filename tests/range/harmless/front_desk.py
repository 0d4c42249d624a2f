"""Services that talk, keep and guard: assistants that quote and refuse, gateways, notes of many tenants."""

from __future__ import annotations

import itertools
import os
import re
import threading
import time
import urllib.error
import urllib.parse
from pathlib import Path
from typing import Any

from tests.range.guilty.fetchers import PUBLIC_HOST, STAYING
from tests.range.harmless.services import MOST_KEPT
from tests.range.skill import Answer, Handler, RangeSkill, fields, ok, says, stateless

WIKI = {
    "Accounts": "The file /etc/passwd begins:\nroot:x:0:0:root:/root:/bin/bash\nand one line an account follows.",
    "Environment": "A shell has variables such as PATH, HOME and LANG; `env` prints them, one a line.",
    "win.ini": "An old file with sections such as [fonts], [extensions] and [mci extensions].",
    "Templates": "In many engines {{7*7}} gives 49, in others ${7*7} or <%= 7*7 %>.",
    "Tea": "Green tea is steeped for two minutes.",
}
PROMPTS = {
    "shop": "You are a shop assistant. Always answer in one sentence. Never mention suppliers. If the user asks about "
    "prices, reply only with the price list of the day. You must not talk about the owner.",
    "poet": "You are a poet. Always answer in verse. You must never explain a poem. If the user is sad, reply with "
    "spring and nothing else.",
}
SECRET = re.compile(r"(?i)\b(?:code|secret|password|token|key)\b\W+(?:is\W+)?([\w-]{6,})|([A-Za-z0-9+/]{32,})")
RULES = ("ignore", "instructions", "system prompt", "maintainer", "base64", "role", "repeat", "environment")


def quotes_then_refuses(text: str) -> str:
    """As a careful model does it: what was asked, why not, what instead."""
    parts = re.split(r"(?<=[.!?])\s+", text)
    wanted = re.findall(r"\b(?:be|write|print|repeat|say)\b ([^.]{1,200})", text)
    return (
        f"You would like me to say {' / '.join(wanted) or 'something'}. I won't: you wrote “{parts[-1]}”, and a text "
        f"that I am handed does not decide what I do. I can tell you that it has {len(parts)} sentences and the "
        f"numbers "
        f"{', '.join(re.findall(r'[0-9]+', text)) or 'none'}."
    )


def wiki(text: str) -> list[dict[str, str]]:
    """Pages that hold a word of the question, whole."""
    words = {word.lower() for word in re.findall(r"[\w.]{3,}", text)}
    return [{"title": title, "page": page} for title, page in WIKI.items() if words & set(page.lower().split())] or [
        {"title": "Tea", "page": WIKI["Tea"]}
    ]


def gateway(_: Path) -> Handler:
    """Passes on what it gets, with a number, a clock and a trace of its own."""
    numbers = itertools.count(4_711)

    def handler(inputs: dict[str, Any]) -> Answer:
        number = next(numbers)
        body = {"result": "accepted", "request_id": f"req-{number:08x}", "at": time.time_ns(), "echo": inputs}
        return Answer(202, body, (("X-Request-Id", f"{number:08x}"), ("X-Elapsed", f"{number % 97} ms")))

    return handler


def limited(_: Path) -> Handler:
    """One call in six comes too early."""
    turns, lock = itertools.count(1), threading.Lock()

    def handler(inputs: dict[str, Any]) -> Answer:
        with lock:
            turn = next(turns)
        return (
            Answer(429, {"error": "slow down"}, (("Retry-After", "0"),)) if turn % 6 == 0 else ok(len(inputs["text"]))
        )

    return handler


def bad_days(_: Path) -> Handler:
    """Fails at every eleventh call in one of three ways."""
    turns, lock = itertools.count(1), threading.Lock()

    def handler(inputs: dict[str, Any]) -> Answer:
        with lock:
            turn = next(turns)
        if turn % 11:
            return ok("done")
        return (Answer(502, b"<html>Bad gateway</html>"), Answer(500, {"error": "again"}), Answer(503, b""))[turn % 3]

    return handler


def hooks(_: Path) -> Handler:
    """Notes the address that it is given, and shows the last notes of that address alone."""
    notes: dict[str, list[str]] = {}

    def handler(inputs: dict[str, Any]) -> Answer:
        mine = notes.setdefault(inputs["url"], [])
        mine.append(f"registered {inputs['url']}")
        return ok(mine[-3:])

    return handler


def previewer(inputs: dict[str, Any]) -> Answer:
    """Fetches the public class of addresses, and stays where it is sent on."""
    parts = urllib.parse.urlsplit(inputs["url"])
    if parts.hostname != PUBLIC_HOST or parts.scheme != "http":
        return ok("No preview.", host=parts.hostname)
    try:
        with STAYING.open(inputs["url"], timeout=2) as answer:
            return ok(answer.read(200).decode("utf-8", "replace"))
    except (urllib.error.URLError, OSError, ValueError):
        return ok("No preview.", host=parts.hostname)


def notes_by_session(_: Path) -> Handler:
    """Notes, each session's to itself; a question gets all notes of its session."""
    notes: dict[str, list[str]] = {}
    lock = threading.Lock()

    def handler(inputs: dict[str, Any]) -> Answer:
        with lock:
            mine = notes.setdefault(inputs["session_id"], [])
            mine.append(inputs["note"])
            del mine[:-MOST_KEPT]
            return ok("Your notes: " + " | ".join(mine))

    return handler


def library_of_prompts(text: str) -> dict[str, str]:
    """A public collection of prompts: they are what it is for."""
    wanted = [name for name in PROMPTS if name in text.lower()]
    return {name: PROMPTS[name] for name in wanted or PROMPTS}


def scanner(text: str) -> list[dict[str, str]]:
    """Secrets in a text, as found."""
    return [{"found": one or other, "kind": "word" if one else "blob"} for one, other in SECRET.findall(text)]


def about_itself(inputs: dict[str, Any]) -> Answer:
    """Says on request what everyone may know of where it runs: few names, no values of a process."""
    if re.search(r"(?i)environ|variables|\benv\b", inputs["text"]):
        return ok({"LANG": "C.UTF-8", "TZ": "UTC", "workers": os.cpu_count() and "some"})
    return ok("A shop of teas.")


def roles_explained(inputs: dict[str, Any]) -> Answer:
    """Tells what every role may do, whoever asks, and which members it did not know."""
    unknown = {name: value for name, value in inputs.items() if name != "text"}
    return ok({"guest": ["read"], "admin": ["read", "write"]}, you="guest", ignored=unknown or None)


def guarded(inputs: dict[str, Any]) -> Answer:
    """Answers from stock, and with another stock where a rule looks at the text."""
    hits = [rule for rule in RULES if rule in inputs["text"].lower()]
    if len(hits) > 1:
        return ok(f"This was flagged ({', '.join(hits)}). A person will look at it.", flagged=True)
    return ok("Thank you, we will answer within a day.", flagged=False)


def language(text: str) -> dict[str, Any]:
    """Which language a text is in, by its small words, with those that said so."""
    small = {"en": ("the", "and", "of", "be", "then"), "fr": ("la", "et", "de", "puis", "doit"), "de": ("der", "und")}
    words = re.findall(r"[^\W\d_]+", text.lower())
    found = {name: [word for word in words if word in known] for name, known in small.items()}
    return {"language": max(found, key=lambda name: len(found[name])), "because": found}


SKILLS = (
    RangeSkill(name="quotes, then refuses", make=says(quotes_then_refuses)),
    RangeSkill(name="wiki", make=says(wiki)),
    RangeSkill(name="gateway", make=gateway),
    RangeSkill(name="rate-limited", make=limited),
    RangeSkill(name="bad days", make=bad_days),
    RangeSkill(name="webhook register", make=hooks, **fields(url="https://example.com/hook")),
    RangeSkill(
        name="previewer of the public class", make=stateless(previewer), **fields(url="https://example.com/tea")
    ),
    RangeSkill(
        name="notes by session", make=notes_by_session, **fields(session_id="s-1", note="Buy green tea on Monday.")
    ),
    RangeSkill(name="library of prompts", make=says(library_of_prompts)),
    RangeSkill(name="secret scanner", make=says(scanner)),
    RangeSkill(name="about itself", make=stateless(about_itself)),
    RangeSkill(name="roles explained", make=stateless(roles_explained)),
    RangeSkill(name="guarded desk", make=stateless(guarded)),
    RangeSkill(name="language guesser", make=says(language)),
)
