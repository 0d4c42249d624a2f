"""Secrets of skills: named by reference (``env:NAME``), resolved where the call is made, redacted wherever they show.

Which variables a worker may send is the operator's to say, not the manifest's: nothing is sent unless it is granted
(``--auth-env``, ``SKILLMARK_AUTH_ENV``). An entry is a variable's name, or the start of one and a ``*``; with ``@HOST``
or ``@HOST:PORT`` after it, it is sent there and nowhere else. Without TLS it is sent to this machine, or to a host
that is granted with its port: a manifest could write ``http`` where the operator thought of ``https``. Our own
variables are never sent, whatever is granted.

Rejected: to send whatever a manifest names, since a stranger's catalog would then read the worker's cloud keys; to send
all but a list of well-known names, since such a list is never complete; to let names with an agreed prefix through,
since one publisher could name another's token and his own host. An author on his laptop pays one flag for it, as he
does for the loopback address, and the refusal spells it out, bound to the host in question.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import os
import re
from collections.abc import Collection, Iterable
from html import escape
from typing import Any
from urllib.parse import quote, quote_plus

from workers.faults import BadJob

REDACTED = "[redacted]"
SECRET_CHARS = 8
OURS = ("SKILLMARK_", "EVAL_SKILLS_", "PROMETHEUS_MULTIPROC_DIR")

_REFERENCE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_SENDABLE = re.compile(r"[\x21-\x7e]+(?:[ \t]+[\x21-\x7e]+)*")

_granted: tuple[str, ...] = ()


def grant(entries: Iterable[str]) -> None:
    """Let this process send the variables that *entries* name, and no others from now on."""
    global _granted
    _granted = tuple(entries)


def resolve(reference: str, host: str, port: int, *, secure: bool = True) -> str:
    """The secret that *reference* names, for a call to *host*; *secure*: over TLS.

    Raises:
        BadJob: If it is no reference, is not granted for that host, is not set here, or cannot be sent in a header.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise BadJob("auth: the token must be a reference such as env:NAME, never the secret itself")
    name = match[1]
    if name.upper().startswith(OURS):
        raise BadJob(f"auth: {name} is a variable of skillmark's own and is sent to no skill")
    host = host.lower()
    literal = f"[{host}]" if ":" in host and not host.startswith("[") else host
    exact = f"{literal}:{port}"
    places = {literal, exact} if secure or _is_here(host) else {exact}
    if not any(_covers(entry, name, places, anywhere=literal in places) for entry in _granted):
        where = literal if literal in places else exact
        raise BadJob(
            f"auth: {name} may not be sent to {where}; --auth-env {name}@{where} allows it"
            " (or SKILLMARK_AUTH_ENV), given where the worker runs"
        )
    secret = os.environ.get(name, "").strip()
    if not secret:
        raise BadJob(f"auth: the worker's environment has no {name}; set it where the worker runs")
    if not _SENDABLE.fullmatch(secret):
        raise BadJob(f"auth: what {name} holds cannot be sent in a header")
    if len(secret) < SECRET_CHARS:
        raise BadJob(
            f"auth: what {name} holds is shorter than {SECRET_CHARS} characters: in an answer it could not be told"
            " from ordinary text, and taken out"
        )
    return secret


def _covers(entry: str, name: str, places: Collection[str], *, anywhere: bool) -> bool:
    names, _, where = entry.strip().partition("@")
    if where.lower() not in places and (where or not anywhere):
        return False
    return name == names or (len(names) > 1 and names.endswith("*") and name.startswith(names[:-1]))


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Redactor:
    """Takes *secret* out of what a skill sent back: as it is, and as base64, hex, URL, HTML or JSON text.

    A base64 text of which the secret is a part, such as a header repeated whole, is found by what does not depend on
    what stands around it; up to two characters of the secret can then remain at either end.
    """

    def __init__(self, secret: str) -> None:
        exact, folded = _forms(secret) if secret else (set(), set())
        forms = {form: re.escape(form) for form in exact} | {form: f"(?i:{re.escape(form)})" for form in folded}
        pattern = "|".join(forms[form] for form in sorted(forms, key=len, reverse=True))
        self._exact = tuple(form.encode() for form in exact)
        self._folded = tuple(form.lower().encode() for form in folded)
        self._bytes = re.compile(pattern.encode()) if forms else None

    def text(self, text: str) -> str:
        """*text* without the secret."""
        if self._bytes is None:
            return text
        return self._without(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def body(self, body: bytes) -> bytes:
        """*body* without the secret, spelt with JSON's ``\\u`` escapes too."""
        if self._bytes is None:
            return body
        redacted = self._without(body)
        if b"\\u" not in redacted:
            return redacted
        try:
            value = json.loads(redacted)
            clean = self._value(value)
        except (ValueError, RecursionError):
            return redacted
        return redacted if clean == value else json.dumps(clean, ensure_ascii=False).encode("utf-8", "replace")

    def _without(self, data: bytes) -> bytes:
        # Looked for one by one first: on a body without any of them that takes a twentieth of what the pattern does.
        folded = data.lower()
        if self._bytes and (any(form in data for form in self._exact) or any(form in folded for form in self._folded)):
            return self._bytes.sub(REDACTED.encode(), data)
        return data

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(name): self._value(item) for name, item in value.items()}
        return value


def _forms(secret: str) -> tuple[set[str], set[str]]:
    """The spellings of *secret*: those to be found as they are, and those in which upper and lower case are one."""
    raw = secret.encode()
    exact = {secret, json.dumps(secret)[1:-1], escape(secret), escape(secret, quote=False)}
    exact |= {form.replace("/", "\\/") for form in tuple(exact)}
    for offset in range(3):
        # What stands before decides how the bytes fall into groups of three; the first and last group are shared.
        padded = b"\0" * offset + raw
        whole = base64.b64encode(padded + b"\0" * (-len(padded) % 3)).decode()
        stable = whole[(offset * 8 + 5) // 6 : len(padded) * 8 // 6]
        exact |= {
            stable,
            stable.replace("+", "-").replace("/", "_"),
            quote(stable, safe=""),
            stable.replace("/", "\\/"),
        }
    folded = {raw.hex(), "".join(f"%{byte:02x}" for byte in raw)}
    folded |= {form for form in (quote(secret, safe=""), quote(secret), quote_plus(secret)) if form != secret}
    return exact, folded
