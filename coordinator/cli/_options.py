"""The options that several verbs share; each is a setting, so that a file or the environment can give it too."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: dict[str, Callable[[F], F]] = {
    "broker": click.option("--broker", metavar="URL", help="RabbitMQ, as amqp://user:password@host/vhost."),
    "store": click.option("--store", metavar="URL", help="The ledger: sqlite:///FILE or postgresql://..."),
    "policy": click.option("--policy", metavar="FILE", help="A certification policy of your own."),
    "out": click.option("--out", metavar="DIR", help="Where results.jsonl and the reports go."),
    "metrics": click.option("--metrics", metavar="HOST:PORT", help="Serve Prometheus metrics there."),
    "benchmarks_dir": click.option(
        "--benchmarks-dir", multiple=True, metavar="DIR", help="Where benchmarks are looked up by id; may be repeated."
    ),
    "allow_network": click.option(
        "--allow-network",
        multiple=True,
        metavar="CIDR",
        help="A private network whose skills may be called, e.g. 127.0.0.0/8; may be repeated.",
    ),
    "allow_exec": click.option("--allow-exec", is_flag=True, default=None, help="Skills may be started as programs."),
    "concurrency": click.option(
        "--concurrency", type=click.IntRange(1, 1024), help="Parcels that one worker process runs at once."
    ),
    "processes": click.option("--processes", type=click.IntRange(1, 256), help="Worker processes."),
    "queues": click.option(
        "--queues", metavar="LIST", help="Which queues to serve: functional,security,latency,static."
    ),
}


def settings(*names: str) -> Callable[[F], F]:
    """The options called *names*, in that order."""

    def decorate(function: F) -> F:
        for name in reversed(names):
            function = OPTIONS[name](function)
        return function

    return decorate


def resolve(flags: Mapping[str, Any]) -> Any:
    """The settings, out of *flags*, environment, ``skillmark.toml`` in the working folder, and defaults."""
    from coordinator.settings import resolve as resolved

    return resolved(flags, environment=os.environ, folder=Path.cwd()).settings
