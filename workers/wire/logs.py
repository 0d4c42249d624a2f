"""Logs: structlog to stderr, for people on a terminal, one JSON object a line elsewhere."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import sys
from typing import Any

import msgspec
import structlog

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


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
            processors=[
                *stamps,
                # Plain: the one with local variables would show attacks and what a publisher planted.
                structlog.dev.ConsoleRenderer(
                    colors=not os.environ.get("NO_COLOR"), exception_formatter=structlog.dev.plain_traceback
                ),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(level),
            # Looked up at each line: while a progress bar is drawn, stderr is what keeps lines and bar apart.
            logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
            cache_logger_on_first_use=False,
        )
    # dramatiq and pika log with the standard library: what they warn of takes the same way out.
    # Pika tells a lost connection five times over, with tracebacks; whoever uses the connection tells it once.
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    bridge = _Bridge(level=logging.WARNING)
    logging.basicConfig(handlers=[bridge], level=logging.WARNING, force=True)


class _Bridge(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and isinstance(record.exc_info[1], CANCELLED):
            return  # a parcel that we gave up ourselves, when we hang up: it goes back to its queue
        if isinstance(record.args, tuple):
            record.args = tuple(_told(one) for one in record.args)
        event = record.getMessage()
        structlog.get_logger(record.name).log(record.levelno, event, logger=record.name, exc_info=record.exc_info)


def _told(given: Any) -> Any:
    """*given* as it may be logged: a message by its id, since what is in it is attacks and secrets of publishers."""
    if isinstance(given, (str, int, float, BaseException)) or given is None:
        return given
    return getattr(given, "message_id", type(given).__name__)
