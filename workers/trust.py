"""Whom we believe over TLS: the authorities that httpx trusts, or those that SSL_CERT_FILE or SSL_CERT_DIR name.

Reading them costs 20 ms: it happens once a process, and only where somebody is called over https.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache

import httpx


def verifying() -> ssl.SSLContext:
    """The context with which every https origin is called."""
    return _verifying(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


def nobody() -> ssl.SSLContext:
    """A context for connections that have no TLS; should one have it after all, no certificate would do."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@lru_cache(maxsize=4)
def _verifying(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    return httpx.create_ssl_context()
