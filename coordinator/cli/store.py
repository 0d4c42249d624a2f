"""``skillmark store``: the ledger's own keeping."""

from __future__ import annotations

from typing import Any

import click

from coordinator.cli import _options


@click.group(short_help="The ledger's schema.")
def command() -> None:
    """The ledger, in SQLite or PostgreSQL."""


@command.command()
@_options.settings("store")
def upgrade(**flags: Any) -> None:
    """Bring a ledger that an older skillmark made to the newest version; stop what uses it first.

    \b
    Examples:
      skillmark store upgrade
      skillmark store upgrade --store postgresql://skillmark@db/ledger
    """
    from coordinator.inputs import default_store
    from coordinator.ledger import store
    from coordinator.ledger.upgrade import upgrade as upgraded

    engine = store.connect(_options.resolve(flags).store or default_store())
    try:
        before, after = upgraded(engine)
    finally:
        engine.dispose()
    shown = engine.url.render_as_string(hide_password=True)
    if before is None:
        click.echo(f"{shown}: made, version {after}")
    elif before == after:
        click.echo(f"{shown}: version {after} already")
    else:
        click.echo(f"{shown}: version {before} -> {after}")
