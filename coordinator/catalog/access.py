"""Where a live skill is called, and with which secret: by reference (``env:NAME``), never by value."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from coordinator.catalog.fields import Fields
from coordinator.catalog.rejection import Rejected, child, kind, near, shown

MAX_URL_CHARS = 2_048
REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,199}")
HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
MEMBERS = {"bearer": ("type", "token"), "api_key": ("type", "token", "header"), "basic": ("type", "token", "username")}


def endpoint(url: str, pointer: str) -> str:
    """*url* if it is an http or https URL that can be called.

    Raises:
        Rejected: If not. A URL with a password in it is refused without being shown.
    """
    expected = "an http or https URL"
    if len(url) > MAX_URL_CHARS or not url.isprintable() or " " in url or "\\" in url:
        raise Rejected(pointer, f"{expected} of at most {MAX_URL_CHARS} printable characters", "another text")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Rejected(pointer, expected, "a URL with a wrong host or port") from None
    if "@" in parts.netloc:
        raise Rejected(pointer, "a URL without user and password; use auth", "one with them (not shown)")
    if parts.scheme not in ("http", "https"):
        raise Rejected(pointer, expected, shown(f"{parts.scheme}:...") if parts.scheme else shown(url))
    if not parts.hostname or port == 0:
        raise Rejected(pointer, f"{expected} with a host", shown(url))
    return url


def auth_reference(fields: Fields | None) -> dict[str, Any] | None:
    """The *auth* object of a manifest as the adapters over HTTP take it; None where there is none.

    Raises:
        Rejected: If it is not by reference, or of an unknown type; no value of it is ever shown.
    """
    if fields is None:
        return None
    declared = fields.get("type", f"one of {', '.join(MEMBERS)}")
    if declared not in ("none", *MEMBERS):
        hint = near(declared, MEMBERS) if isinstance(declared, str) else ""
        raise Rejected(fields.at("type"), f"one of {', '.join(MEMBERS)}", f"{kind(declared)} of another meaning{hint}")
    if declared == "none":
        return None
    for name in fields.value:
        if name not in MEMBERS[declared]:
            at = child(fields.pointer, name)
            raise Rejected(at, f"only {', '.join(MEMBERS[declared])}", f"{kind(fields.value[name])} (not shown)")
    token = fields.get("token", "a reference such as env:MY_TOKEN")
    if not isinstance(token, str) or not REFERENCE.fullmatch(token):
        expected = "a reference such as env:MY_TOKEN; the secret itself has no place in a manifest"
        raise Rejected(fields.at("token"), expected, f"{kind(token)} (not shown)")
    auth = {"type": declared, "token": token}
    header = fields.get("header")
    if header is not None:
        if not isinstance(header, str) or not HEADER.fullmatch(header):
            raise Rejected(fields.at("header"), "the name of an HTTP header", f"{kind(header)} (not shown)")
        auth["header"] = header
    if declared == "basic":
        username = fields.line("username", required=True)
        if ":" in username:
            raise Rejected(fields.at("username"), "a name without a colon", "one with it")
        auth["username"] = username
    return auth
