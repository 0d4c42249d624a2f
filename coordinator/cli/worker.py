"""``skillmark worker``: run jobs from RabbitMQ."""

from __future__ import annotations

import sys
from typing import Any

import click

from coordinator.cli import _options


@click.command(short_help="Run jobs from RabbitMQ.")
@_options.settings(
    "broker", "queues", "processes", "concurrency", "metrics", "auth_env", "allow_exec", *_options.CALLBACKS
)
def command(**flags: Any) -> None:
    """Run jobs from RabbitMQ until SIGTERM or SIGINT; jobs that are running then are finished first.

    A process that dies is started again, and what it was doing is done by another.

    \b
    Examples:
      skillmark worker --broker amqp://guest:guest@localhost/
      skillmark worker --processes 4 --queues security,latency --metrics :9191
    """
    from coordinator.settings import SettingsError, callbacks, metrics_address
    from workers import service
    from workers.wire import logs, queues

    logs.configure()
    settings = _options.resolve(flags)
    if not settings.broker:
        raise click.UsageError("a worker needs a broker: give --broker URL or set SKILLMARK_BROKER")
    names = [f"skillmark.{name.strip()}" for entry in settings.queues for name in entry.split(",")]
    unknown = sorted(set(names) - set(queues.ALL))
    if unknown:
        known = ", ".join(name.removeprefix("skillmark.") for name in queues.ALL)
        raise SettingsError(f"queues: expected some of {known}, found {unknown[0].removeprefix('skillmark.')}")
    metrics = metrics_address(settings.metrics) if settings.metrics else None
    service.check(settings.broker)
    try:
        code = service.serve(
            settings.broker,
            queues=names,
            processes=settings.processes,
            concurrency=settings.concurrency,
            metrics=metrics,
            auth_env=settings.auth_env,
            allow_exec=settings.allow_exec,
            callbacks=callbacks(settings),
        )
    except service.AddressTaken as error:
        raise SettingsError(f"metrics: expected an address to listen on, found {error}; choose another") from error
    sys.exit(code)
