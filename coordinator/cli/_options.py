"""The options that several verbs share; each is a setting, so that a file or the environment can give it too."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from coordinator.settings import Resolved, Settings

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: dict[str, Callable[[F], F]] = {
    "broker": click.option("--broker", metavar="URL", help="RabbitMQ, as amqp://user:password@host/vhost."),
    "store": click.option("--store", metavar="URL", help="The ledger: sqlite:///FILE or postgresql://..."),
    "policy": click.option("--policy", metavar="FILE", help="A certification policy of your own."),
    "corpus": click.option("--corpus", metavar="DIR", help="An attack corpus of your own."),
    "out": click.option("--out", metavar="DIR", help="Where results.jsonl and the reports go."),
    "metrics": click.option("--metrics", metavar="HOST:PORT", help="Serve Prometheus metrics there."),
    "osv_database": click.option(
        "--osv-database", metavar="FILE", help="The database of known vulnerabilities, made by `skillmark osv`."
    ),
    "osv_url": click.option("--osv-url", metavar="URL", help="Where the dumps of OSV records are published."),
    "benchmarks_dir": click.option(
        "--benchmarks-dir", multiple=True, metavar="DIR", help="Where benchmarks are looked up by id; may be repeated."
    ),
    "allow_network": click.option(
        "--allow-network",
        multiple=True,
        metavar="CIDR",
        help="A private network whose skills may be called, e.g. 127.0.0.0/8; may be repeated.",
    ),
    "allow_exec": click.option(
        "--allow-exec",
        is_flag=True,
        default=None,
        help="Skills may be started as programs: where bubblewrap is installed, without network and files of yours; "
        "else with your own rights, under limits. Given where the workers run, too.",
    ),
    "auth_env": click.option(
        "--auth-env",
        multiple=True,
        metavar="NAME[@HOST]",
        help="An environment variable that may be sent to skills whose manifest names it (env:NAME), and the one host"
        " that it is for; given where the workers run; may be repeated.",
    ),
    "callback_url": click.option(
        "--callback-url",
        metavar="URL",
        help="Leads to --callback-listen from where the skills run; without it only skills on this machine are attacked"
        " with callbacks.",
    ),
    "callback_internal_url": click.option(
        "--callback-internal-url", metavar="URL", help="Leads there from inside the skills' own network alone."
    ),
    "callback_listen": click.option(
        "--callback-listen", metavar="HOST:PORT", help="Where the worker waits for callbacks; loopback by default."
    ),
    "concurrency": click.option(
        "--concurrency", type=click.IntRange(1, 1024), help="Parcels that one worker process runs at once."
    ),
    "processes": click.option("--processes", type=click.IntRange(1, 256), help="Worker processes."),
    "queues": click.option(
        "--queues", metavar="LIST", help="Which queues to serve: functional,security,latency,static."
    ),
}

CALLBACKS = ("callback_url", "callback_internal_url", "callback_listen")


def repeats(function: F) -> F:
    """``--repeats`` and ``--k``: how often each functional task is run, and the k of pass@k."""
    function = click.option(
        "--k", type=click.IntRange(1, 200), help="The k of pass@k, for benchmarks that are scored by it."
    )(function)
    return click.option(
        "--repeats", "--runs", type=click.IntRange(1, 200), help="Run each functional task so often; once by default."
    )(function)


def settings(*names: str) -> Callable[[F], F]:
    """The options called *names*, in that order."""

    def decorate(function: F) -> F:
        for name in reversed(names):
            function = OPTIONS[name](function)
        return function

    return decorate


def resolve(flags: Mapping[str, Any]) -> Settings:
    """The settings, out of *flags*, environment, ``skillmark.toml`` in the working folder, and defaults."""
    return resolved(flags).settings


def resolved(flags: Mapping[str, Any]) -> Resolved:
    """The same with their origins; what is mistyped in the environment is told on stderr."""
    from coordinator.settings import resolve

    found = resolve(flags, environment=os.environ, folder=Path.cwd())
    for warning in found.warnings:
        click.echo(f"Warning: {warning}", err=True)
    return found
