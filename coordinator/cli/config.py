"""``skillmark config``: the settings in force."""

from __future__ import annotations

import json

import click

from coordinator.cli import _options


@click.group(short_help="The settings in force.")
def command() -> None:
    """The settings in force: flag, then SKILLMARK_* variable, then skillmark.toml, then default; and the policy."""


@command.command()
def policy() -> None:
    """Print the built-in policy, to copy from; every figure of the certification stands in it.

    \b
    Example:
      skillmark config policy > policy.toml
    """
    from coordinator.policy import built_in

    click.echo(built_in(), nl=False)


@command.command()
@click.option("--origin", is_flag=True, help="Also say where each comes from.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show(origin: bool, as_json: bool) -> None:
    """Show every setting; passwords in URLs are not shown."""
    import msgspec

    from coordinator.settings import redacted

    found = _options.resolved({})
    values = msgspec.to_builtins(found.settings)
    values.update({name: redacted(values[name]) for name in ("broker", "store", "osv_url")})
    if as_json:
        click.echo(json.dumps({"settings": values, "origins": found.origins} if origin else values))
        return
    for name, value in values.items():
        text = ", ".join(value) if isinstance(value, (list, tuple)) else str(value)
        click.echo(f"{name:<21} {text:<52} {found.origins[name]}".rstrip() if origin else f"{name:<21} {text}".rstrip())
