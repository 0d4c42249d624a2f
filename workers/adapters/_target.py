"""Where and how one skill is called over HTTP: its access, parsed once a process, with its secret resolved."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Literal

import httpx
import msgspec
from msgspec import Struct

from workers.adapters._body import ACCEPT_ENCODING
from workers.faults import BadJob
from workers.wire.skill import Access, SkillRef

REDACTED = "[redacted]"
# A shorter secret would be found in harmless answers, and is none.
SECRET_CHARS = 8

_REFERENCE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_HEADER_VALUE = re.compile(r"[\x21-\x7e]+(?:[ \t]+[\x21-\x7e]+)*")
_OURS = frozenset({"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection"})


class Bearer(Struct, frozen=True, tag="bearer", tag_field="type", forbid_unknown_fields=True):
    """``Authorization: Bearer`` with the secret that *token* (``env:NAME``) refers to."""

    token: str


class ApiKey(Struct, frozen=True, tag="api_key", tag_field="type", forbid_unknown_fields=True):
    """The secret that *token* (``env:NAME``) refers to, in a header of its own."""

    token: str
    header: str = "X-API-Key"


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """*body* ``inputs`` sends the object of the inputs, ``envelope`` sends ``{skillId, version, input}``."""

    body: Literal["inputs", "envelope"] = "inputs"
    auth: Bearer | ApiKey | None = None


class Target:
    """One endpoint, ready for requests."""

    def __init__(self, url: httpx.URL, options: Options, agent: str) -> None:
        self.url = url
        self.host = url.raw_host.decode("ascii")
        self.port = url.port or (443 if url.scheme == "https" else 80)
        self._envelope = options.body == "envelope"
        self._pinned: dict[str, httpx.URL] = {}
        secret = _secret(options.auth.token) if options.auth else ""
        self._secrets = (secret, secret.replace("/", "\\/")) if len(secret) >= SECRET_CHARS else ()
        # With the address in the URL, Host and SNI keep the name.
        self._extensions = {"sni_hostname": self.host} if url.scheme == "https" and not _is_literal(self.host) else {}
        self.headers: tuple[tuple[str, str], ...] = (
            ("Host", url.netloc.decode("ascii")),
            ("User-Agent", agent),
            ("Accept", "application/json"),
            ("Accept-Encoding", ACCEPT_ENCODING),
            ("Content-Type", "application/json"),
            *_authorization(options.auth, secret),
        )

    def body(self, skill: SkillRef, inputs: Mapping[str, Any]) -> bytes:
        """The JSON body of one call.

        Raises:
            BadJob: If the inputs cannot be written as JSON.
        """
        content: Any = dict(inputs)
        if self._envelope:
            content = {"skillId": skill.id, "version": skill.version, "input": content}
        try:
            return msgspec.json.encode(content)
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise BadJob(f"the inputs cannot be sent as JSON: {error}") from error

    def request(self, ip: str, body: bytes) -> httpx.Request:
        """The POST of *body* to the checked address *ip*."""
        url = self._pinned.get(ip)
        if url is None:
            if len(self._pinned) >= 64:
                self._pinned.clear()
            url = self._pinned[ip] = self.url.copy_with(host=ip)
        return httpx.Request("POST", url, headers=list(self.headers), content=body, extensions=self._extensions)

    def redacted(self, text: str) -> str:
        """*text* without the secret."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text

    def redacted_bytes(self, body: bytes) -> bytes:
        """*body* without the secret, should the skill have repeated it."""
        for secret in self._secrets:
            body = body.replace(secret.encode(), REDACTED.encode())
        return body


def target_of(access: Access, agent: str) -> Target:
    """The target of *access*; *agent* is our User-Agent.

    Raises:
        BadJob: If the endpoint or the options cannot be used, or the secret's variable is not set here.
    """
    try:
        options = msgspec.convert(access.options, Options)
    except msgspec.ValidationError as error:
        raise BadJob(f"http access options: {error}") from error
    try:
        url = httpx.URL(access.endpoint)
        host = url.host  # decodes the name: the last step that can fail
    except (httpx.InvalidURL, UnicodeError, ValueError, TypeError) as error:
        raise BadJob(f"endpoint {access.endpoint[:200]!r} is no URL: {error}") from error
    if url.scheme not in ("http", "https") or not host:
        raise BadJob(f"endpoint {access.endpoint[:200]!r}: expected http:// or https:// and a host")
    if url.userinfo:
        raise BadJob(f"the endpoint at {host} carries a password; name it as auth with env:NAME instead")
    if not 1 <= (url.port or 80) <= 65_535 or url.port == 0:
        raise BadJob(f"endpoint {access.endpoint[:200]!r}: expected a port from 1 to 65535")
    return Target(url.copy_with(fragment=None), options, agent)


def _authorization(auth: Bearer | ApiKey | None, secret: str) -> tuple[tuple[str, str], ...]:
    match auth:
        case Bearer():
            return (("Authorization", f"Bearer {secret}"),)
        case ApiKey():
            if not _HEADER_NAME.fullmatch(auth.header) or auth.header.lower() in _OURS:
                raise BadJob(f"auth: {auth.header[:80]!r} cannot be the header of an API key")
            return ((auth.header, secret),)
        case None:
            return ()


def _secret(reference: str) -> str:
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise BadJob("auth: the token must be a reference such as env:NAME, never the secret itself")
    name = match[1]
    secret = os.environ.get(name, "").strip()
    if not secret:
        raise BadJob(f"auth: the worker's environment has no {name}; set it where the worker runs")
    if not _HEADER_VALUE.fullmatch(secret):
        raise BadJob(f"auth: what {name} holds cannot be sent in a header")
    return secret


def _is_literal(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdecimal()
