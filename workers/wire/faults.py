"""How a broker can fail whoever talks to it."""

from __future__ import annotations


class BrokerUnreachable(Exception):
    """RabbitMQ does not answer, or does not let us in. The message names the URL without its password."""


class LinkLost(Exception):
    """The connection or its channel was closed while something was asked of it."""


class Unroutable(Exception):
    """The queue that a message was meant for does not exist."""
