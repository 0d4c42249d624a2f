"""Logs: structlog to stderr, for people on a terminal, one JSON object a line elsewhere."""

from __future__ import annotations

import logging
import os
import sys

import msgspec
import structlog


def configure(*, json: bool | None = None, level: int = logging.INFO) -> None:
    """Set up logging for this process. *json* None: JSON unless stderr is a terminal."""
    stamps: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if json is None:
        json = not sys.stderr.isatty()
    if json:
        encode = msgspec.json.Encoder(enc_hook=repr).encode
        structlog.configure(
            processors=[
                *stamps,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(serializer=lambda event, **_: encode(event)),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(level),
            logger_factory=structlog.BytesLoggerFactory(file=sys.stderr.buffer),
            cache_logger_on_first_use=True,
        )
    else:
        structlog.configure(
            processors=[*stamps, structlog.dev.ConsoleRenderer(colors=not os.environ.get("NO_COLOR"))],
            wrapper_class=structlog.make_filtering_bound_logger(level),
            logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
            cache_logger_on_first_use=True,
        )
    # dramatiq and pika log with the standard library: what they warn of takes the same way out.
    # Pika tells a lost connection five times over, with tracebacks; whoever uses the connection tells it once.
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    bridge = _Bridge(level=logging.WARNING)
    logging.basicConfig(handlers=[bridge], level=logging.WARNING, force=True)


class _Bridge(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        event = record.getMessage()
        structlog.get_logger(record.name).log(record.levelno, event, logger=record.name, exc_info=record.exc_info)
