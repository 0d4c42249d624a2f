"""Where and how one skill is called over HTTP: its access, parsed once a process, with its secret resolved."""

from __future__ import annotations

import base64
import copy
import re
from typing import TypeVar

import httpx
import msgspec
from msgspec import Struct

from workers import secrets
from workers.adapters._body import ACCEPT_ENCODING
from workers.faults import BadJob
from workers.wire.skill import Access

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_OURS = frozenset({"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection"})

Headers = tuple[tuple[str, str], ...]
T = TypeVar("T")


class Bearer(Struct, frozen=True, tag="bearer", tag_field="type", forbid_unknown_fields=True):
    """``Authorization: Bearer`` with the secret that *token* (``env:NAME``) refers to."""

    token: str


class ApiKey(Struct, frozen=True, tag="api_key", tag_field="type", forbid_unknown_fields=True):
    """The secret that *token* (``env:NAME``) refers to, in a header of its own."""

    token: str
    header: str = "X-API-Key"


class Basic(Struct, frozen=True, tag="basic", tag_field="type", forbid_unknown_fields=True):
    """``Authorization: Basic`` with *username* and the password that *token* (``env:NAME``) refers to."""

    token: str
    username: str


Auth = Bearer | ApiKey | Basic


class Target:
    """One endpoint, ready for requests; *extra* headers are those of the protocol spoken there.

    Raises:
        BadJob: If the secret is not to be had for that host, or cannot be sent.
    """

    def __init__(self, url: httpx.URL, auth: Auth | None, agent: str, extra: Headers = ()) -> None:
        self.url = url
        self.host = url.raw_host.decode("ascii")
        self.port = url.port or (443 if url.scheme == "https" else 80)
        self._pinned: dict[str, httpx.URL] = {}
        self.secure = url.scheme == "https"
        secret = secrets.resolve(auth.token, self.host, self.port, secure=self.secure) if auth else ""
        redactor = secrets.Redactor(secret)
        self.redacted = redactor.text
        self.redacted_bytes = redactor.body
        # With the address in the URL, Host and SNI keep the name.
        self._extensions = {"sni_hostname": self.host} if self.secure and not _is_literal(self.host) else {}
        self.headers: Headers = (
            ("Host", url.netloc.decode("ascii")),
            ("User-Agent", agent),
            ("Accept", "application/json"),
            ("Accept-Encoding", ACCEPT_ENCODING),
            ("Content-Type", "application/json"),
            *extra,
            *_authorization(auth, secret),
        )
        self._lines = httpx.Headers(self.headers)

    def at(self, url: httpx.URL) -> Target:
        """The same host, secret and headers with another path or query.

        Raises:
            BadJob: If *url* is of another origin: the secret was granted for this one.
        """
        if (url.scheme, url.host, url.port) != (self.url.scheme, self.url.host, self.url.port):
            raise BadJob(f"{url.host} is not {self.url.host}, for which the access is made")
        other = copy.copy(self)
        other.url, other._pinned = url, {}
        return other

    def request(self, ip: str, body: bytes, headers: Headers = (), method: str = "POST") -> httpx.Request:
        """The request with *body* to the checked address *ip*; *headers* come beside the target's, or replace them."""
        url = self._pinned.get(ip)
        if url is None:
            if len(self._pinned) >= 64:
                self._pinned.clear()
            url = self._pinned[ip] = self.url.copy_with(host=ip)
        lines = self._lines
        if headers:
            replaced = {name.lower() for name, _ in headers}
            lines = httpx.Headers([*(line for line in self.headers if line[0].lower() not in replaced), *headers])
        return httpx.Request(method, url, headers=lines, content=body, extensions=self._extensions)


def options_of(access: Access, kind: type[T]) -> T:
    """The options of *access* as *kind*.

    Raises:
        BadJob: If they are not what the adapter takes.
    """
    try:
        return msgspec.convert(access.options, kind)
    except msgspec.ValidationError as error:
        raise BadJob(f"{access.adapter} access options: {error}") from error


def url_of(endpoint: str) -> httpx.URL:
    """*endpoint*, without a fragment.

    Raises:
        BadJob: If it is no http or https URL that can be called.
    """
    try:
        url = httpx.URL(endpoint)
        host = url.host  # decodes the name: the last step that can fail
    except (httpx.InvalidURL, UnicodeError, ValueError, TypeError) as error:
        raise BadJob(f"endpoint {endpoint[:200]!r} is no URL: {error}") from error
    if url.scheme not in ("http", "https") or not host:
        raise BadJob(f"endpoint {endpoint[:200]!r}: expected http:// or https:// and a host")
    if url.userinfo:
        raise BadJob(f"the endpoint at {host} carries a password; name it as auth with env:NAME instead")
    if not 1 <= (url.port or 80) <= 65_535 or url.port == 0:
        raise BadJob(f"endpoint {endpoint[:200]!r}: expected a port from 1 to 65535")
    return url.copy_with(fragment=None)


def json_body(content: object) -> bytes:
    """*content* as a JSON body.

    Raises:
        BadJob: If it cannot be written as JSON.
    """
    try:
        return msgspec.json.encode(content)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise BadJob(f"the inputs cannot be sent as JSON: {error}") from error


def _authorization(auth: Auth | None, secret: str) -> Headers:
    match auth:
        case Bearer():
            return (("Authorization", f"Bearer {secret}"),)
        case Basic():
            if ":" in auth.username or not auth.username.isprintable():
                raise BadJob("auth: a username for basic authentication has no colon and no control character in it")
            return (("Authorization", f"Basic {base64.b64encode(f'{auth.username}:{secret}'.encode()).decode()}"),)
        case ApiKey():
            if not _HEADER_NAME.fullmatch(auth.header) or auth.header.lower() in _OURS:
                raise BadJob(f"auth: {auth.header[:80]!r} cannot be the header of an API key")
            return ((auth.header, secret),)
        case None:
            return ()


def _is_literal(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdecimal()
