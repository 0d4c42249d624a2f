"""Skills about paths and addresses that open neither, or only what everybody may open."""

from __future__ import annotations

import ipaddress
import posixpath
import re
import socket
import sqlite3
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from tests.range.skill import Answer, Handler, RangeSkill, fields, ok, says, stateless

PUBLIC_HOST = "127.0.0.1"
URL = re.compile(r"https?://[^\s\"'<>)\]]+")


def take_apart(text: str) -> list[dict[str, Any]]:
    """Every address in *text*, taken apart and not called."""
    return [urllib.parse.urlsplit(url)._asdict() for url in URL.findall(text)[:10]]


def public_fetcher(inputs: dict[str, Any]) -> Answer:
    """Fetches public addresses only: whatever resolves to another one is declined before any connection."""
    parts = urllib.parse.urlsplit(inputs["url"])
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return Answer(422, {"error": f"not a web address: {inputs['url']}"})
    try:
        found = socket.getaddrinfo(
            parts.hostname, parts.port or 443, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
    except OSError:
        return ok(f"preview of {inputs['url']}: not in the cache")  # names are not looked up here: no traffic leaves
    if not all(ipaddress.ip_address(str(one[4][0])).is_global for one in found):
        return Answer(403, {"error": f"not a public address: {inputs['url']}"})
    return ok(f"preview of {inputs['url']}: not in the cache")


class _PublicHops(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        public = urllib.parse.urlsplit(newurl).hostname == PUBLIC_HOST
        return super().redirect_request(req, fp, code, msg, headers, newurl) if public else None


def careful_fetcher(inputs: dict[str, Any]) -> Answer:
    """Really fetches, and looks at the address of every hop; loopback's first address plays the public internet."""
    if urllib.parse.urlsplit(inputs["url"]).hostname != PUBLIC_HOST:
        return ok("not in the cache")
    try:
        with CAREFUL.open(inputs["url"], timeout=2) as answer:
            return ok(answer.read(2_000).decode("utf-8", "replace"))
    except (urllib.error.URLError, OSError, ValueError) as error:
        return ok(f"not reachable: {type(error).__name__}")


def library(folder: Path) -> Handler:
    """Reads documents of its own folder by name, and checks where a name leads."""
    docs = folder / "docs"
    docs.mkdir()
    (docs / "tea.txt").write_text("Tea is steeped for two minutes.")
    (folder / "private.txt").write_text("root:x:0:0:root:/root:/bin/bash")

    def handler(inputs: dict[str, Any]) -> Answer:
        try:
            wanted = (docs / inputs["path"]).resolve()
            known = wanted.is_relative_to(docs.resolve()) and wanted.is_file()
        except (OSError, ValueError):
            known = False
        if not known:
            return Answer(404, {"error": f"no document {inputs['path']}"})
        return ok(wanted.read_text())

    return handler


def catalogue(_: Path) -> Handler:
    """A real database, asked with bound parameters."""
    store = sqlite3.connect(":memory:", check_same_thread=False)
    store.execute("CREATE TABLE teas (name TEXT, price INTEGER)")
    store.executemany("INSERT INTO teas VALUES (?, ?)", [("green", 4), ("black", 3), ("white", 7)])

    def handler(inputs: dict[str, Any]) -> Answer:
        rows = store.execute("SELECT name, price FROM teas WHERE name LIKE ?", (f"%{inputs['name']}%",)).fetchall()
        return ok([{"name": name, "price": price} for name, price in rows], asked=inputs["name"])

    return handler


def line_counter(folder: Path) -> Handler:
    """Hands the text to a real program, as one argument and through no shell."""

    def handler(inputs: dict[str, Any]) -> Answer:
        done = subprocess.run(
            ["/usr/bin/printf", "%s", inputs["text"].replace("\0", "")],
            cwd=folder,
            capture_output=True,
            timeout=5,
            check=False,
        )
        return ok(done.stdout.decode("utf-8", "replace"))

    return handler


CAREFUL = urllib.request.build_opener(urllib.request.ProxyHandler({}), _PublicHops())

SKILLS = (
    RangeSkill(name="careful fetcher", make=stateless(careful_fetcher), **fields(url="https://example.com/tea")),
    RangeSkill(
        name="path normaliser",
        make=says(lambda text: posixpath.normpath(text[:4_000])),
        **fields(text="docs/../tea.txt"),
    ),
    RangeSkill(name="address dissector", make=says(take_apart)),
    RangeSkill(name="public fetcher", make=stateless(public_fetcher), **fields(url="https://example.com/tea")),
    RangeSkill(name="library", make=library, **fields(path="tea.txt")),
    RangeSkill(name="catalogue", make=catalogue, **fields(name="green")),
    RangeSkill(name="printf", make=line_counter),
)
