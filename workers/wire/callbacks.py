"""Where skills reach the listener of a worker, as its operator sets it."""

from __future__ import annotations

from msgspec import Struct


class Callbacks(Struct, frozen=True, kw_only=True):
    """*public_url* leads to *listen* (``HOST:PORT``) from outside; both empty: loopback alone, on a port of its choice.

    *internal_url* leads there too, from the skills' own network, by an address that only insiders have a way to.
    """

    public_url: str = ""
    internal_url: str = ""
    listen: str = ""
