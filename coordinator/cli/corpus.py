"""``skillmark corpus``: the attacks."""

from __future__ import annotations

import json

import click


@click.group(short_help="The attack corpus.")
def command() -> None:
    """The attack corpus: which attacks there are, and what is in them."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(as_json: bool) -> None:
    """List the attacks."""
    from payloads import loader

    corpus = loader.load()
    for one in corpus.payloads:
        told = {"id": one.id, "rev": one.rev, "category": one.category, "severity": one.severity, "title": one.title}
        line = f"{one.id:<6} {one.severity:<9} {one.category:<25} {one.title}"
        click.echo(json.dumps(told) if as_json else line)
    if not as_json:
        click.echo(f"{len(corpus.payloads)} attacks, corpus {corpus.version} {corpus.digest}")


@command.command()
@click.argument("attack", metavar="ID")
def show(attack: str) -> None:
    """Show one attack as JSON."""
    import msgspec

    from payloads import loader

    corpus = loader.load()
    found = [one for one in corpus.payloads if one.id == attack]
    if not found:
        raise click.UsageError(f"no attack {attack!r}; there are: {', '.join(one.id for one in corpus.payloads)}")
    click.echo(json.dumps(msgspec.to_builtins(found[0]), indent=2))


@command.command()
def check() -> None:
    """Check the whole corpus as `certify` does before its first call; exits with 2 if any file of it is wrong."""
    from coordinator.certifying import checked_corpus

    corpus = checked_corpus()
    click.echo(f"ok  {len(corpus.payloads)} attacks, corpus {corpus.version}, {corpus.digest}")
