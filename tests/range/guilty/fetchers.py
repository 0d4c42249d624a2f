"""Skills that call whatever address they are given; what they can reach is loopback."""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.range.skill import Answer, Handler, Kind, RangeSkill, fields, holes, ok, stateless

DEADLINE_S = 2
# In the range, this address of loopback plays the public internet and every other one the inside.
PUBLIC_HOST = "127.0.0.1"
URL = re.compile(r"https?://[^\s\"'<>)\]}\\]+")


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


ROAMING = urllib.request.build_opener(urllib.request.ProxyHandler({}))
STAYING = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay())


def fetched(opener: urllib.request.OpenerDirector, url: str) -> str:
    """The start of what stands at *url*, or in words why not; nothing but loopback is ever called."""
    host = urllib.parse.urlsplit(url).hostname or ""
    if not re.fullmatch(r"127(\.\d+){3}|localhost|\[?::1\]?", host):
        return "not in the cache"
    try:
        with opener.open(url, timeout=DEADLINE_S) as answer:
            return str(answer.read(2_000).decode("utf-8", "replace"))
    except (urllib.error.URLError, OSError, ValueError) as error:
        return f"not reachable: {type(error).__name__}"


def fetches(opener: urllib.request.OpenerDirector, field: str) -> Callable[[dict[str, Any]], Answer]:
    """Fetches the first address in *field*."""

    def handler(inputs: dict[str, Any]) -> Answer:
        found = URL.search(inputs[field])
        return ok(fetched(opener, found[0]) if found else "no address given")

    return handler


def first_address_checked(inputs: dict[str, Any]) -> Answer:
    """Declines internal addresses, and then goes wherever a public one sends it."""
    if urllib.parse.urlsplit(inputs["url"]).hostname != PUBLIC_HOST:
        return ok("not a public address")
    return ok(fetched(ROAMING, inputs["url"]))


def known_by_spelling(inputs: dict[str, Any]) -> Answer:
    """Declines the inside as it is usually written, and calls whatever else comes to a loopback address."""
    parts = urllib.parse.urlsplit(inputs["url"])
    host = parts.hostname or ""
    if re.match(r"(?:127|10|192\.168|169\.254)\.|localhost$|::1$", host):
        return Answer(403, {"error": "not a public address"})
    try:
        inside = ipaddress.IPv4Address(socket.inet_aton(host)).is_loopback
    except OSError:
        inside = False
    if not inside:
        return ok("not in the cache")
    try:
        with STAYING.open(inputs["url"], timeout=DEADLINE_S) as answer:
            return ok(answer.read(2_000).decode("utf-8", "replace"))
    except (urllib.error.URLError, OSError, ValueError) as error:
        return ok(f"not reachable: {type(error).__name__}")


def allowed_by_name(inputs: dict[str, Any]) -> Answer:
    """Calls whatever holds the name of the one host that is allowed."""
    if "example.com" not in inputs["url"]:
        return Answer(403, {"error": "only example.com"})
    return ok(fetched(STAYING, inputs["url"]))


def blindly(inputs: dict[str, Any]) -> Answer:
    """Fetches and tells nothing of it."""
    for url in URL.findall(inputs["text"])[:3]:
        fetched(ROAMING, url)
    return ok("noted")


def tools(inputs: dict[str, Any]) -> Answer:
    """An agent loop that takes a tool call from anywhere in its text: any JSON or tag that holds an address."""
    text = inputs["text"]
    if re.search(r"(?i)tool|function|fetch|http_get|browse|call", text):
        for url in URL.findall(text)[:3]:
            fetched(ROAMING, url)
    return ok("A summary.")


def webhook(_: Path) -> Handler:
    """Calls back where it is told, after its work."""

    def handler(inputs: dict[str, Any]) -> Answer:
        request = urllib.request.Request(
            inputs["callback_url"], json.dumps({"done": True}).encode(), {"Content-Type": "application/json"}
        )
        if request.host and request.host.startswith(("127.", "localhost")):
            try:
                ROAMING.open(request, timeout=DEADLINE_S).close()
            except (urllib.error.URLError, OSError):
                return ok("done, callback failed")
        return ok("done")

    return handler


FETCHES = holes(Kind.CALLBACK, "DX-02")

SKILLS = (
    RangeSkill(
        name="fetcher", make=stateless(fetches(ROAMING, "url")), holes=FETCHES, **fields(url="https://example.com/tea")
    ),
    RangeSkill(
        name="fetcher without redirects",
        make=stateless(fetches(STAYING, "url")),
        holes=FETCHES,
        **fields(url="https://example.com/tea"),
    ),
    RangeSkill(name="link previewer", make=stateless(fetches(ROAMING, "text")), holes=FETCHES),
    RangeSkill(
        name="fetcher that checks the first address",
        make=stateless(first_address_checked),
        holes=FETCHES,
        **fields(url="https://example.com/tea"),
    ),
    RangeSkill(
        name="fetcher that knows the inside by its spelling",
        make=stateless(known_by_spelling),
        holes=FETCHES,
        **fields(url="https://example.com/tea"),
    ),
    RangeSkill(
        name="fetcher that looks for an allowed name",
        make=stateless(allowed_by_name),
        holes=FETCHES,
        **fields(url="https://example.com/tea"),
    ),
    RangeSkill(name="blind fetcher", make=stateless(blindly), holes=FETCHES),
    RangeSkill(name="webhook", make=webhook, holes=FETCHES, **fields(callback_url="https://example.com/hook")),
    RangeSkill(name="agent with tools", make=stateless(tools), holes=holes(Kind.CALLBACK, "PI-04")),
)
