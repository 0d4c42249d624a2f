"""``skillmark corpus``: the attacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coordinator.cli import _options

if TYPE_CHECKING:
    from payloads.loader import Corpus, Payload

F = TypeVar("F", bound=Callable[..., Any])


def _choice(function: F) -> F:
    category = click.option("--category", "categories", multiple=True, metavar="NAME", help="Attacks of this category.")
    only = click.option("--only", multiple=True, metavar="ID", help="This attack; may be repeated.")
    return _options.settings("corpus")(only(category(function)))


@click.group(short_help="The attack corpus.")
def command() -> None:
    """The attack corpus: which attacks there are, what is in them, and whether a corpus can be used.

    \b
    A corpus of one's own is a folder with a corpus.yaml and one file an attack, <category>/<ID>.yaml:
      cp -r "$(skillmark corpus path)" mine/
      $EDITOR mine/prompt_injection/PI-07.yaml
      skillmark corpus check --corpus mine/
      skillmark certify catalog/ --corpus mine/
    """


@command.command("list")
@_choice
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(as_json: bool, only: tuple[str, ...], categories: tuple[str, ...], **flags: Any) -> None:
    """List the attacks."""
    from coordinator.report.escape import terminal

    corpus, chosen = _chosen(only, categories, flags)
    for one in chosen:
        told = {
            "id": one.id,
            "rev": one.rev,
            "category": one.category,
            "severity": one.severity,
            "title": one.title,
            "detector": one.detector,
            "refs": one.refs,
        }
        line = f"{one.id:<6} {one.severity:<9} {one.category:<25} {one.title}"
        click.echo(json.dumps(told) if as_json else terminal(line))
    if not as_json:
        of = "" if len(chosen) == len(corpus.payloads) else f" of {len(corpus.payloads)}"
        click.echo(f"{len(chosen)}{of} attacks, corpus {terminal(corpus.version)} {corpus.digest}")


@command.command()
@click.argument("attack", metavar="ID")
@_options.settings("corpus")
def show(attack: str, **flags: Any) -> None:
    """Show one attack as JSON."""
    import msgspec

    _, chosen = _chosen((attack,), (), flags)
    click.echo(json.dumps(msgspec.to_builtins(chosen[0]), indent=2))


@command.command()
@_choice
def check(only: tuple[str, ...], categories: tuple[str, ...], **flags: Any) -> None:
    """Check the whole corpus as `certify` does before its first call; exits with 2 if any file of it is wrong.

    --only and --category are held against it too.
    """
    from coordinator.report.escape import terminal

    corpus, chosen = _chosen(only, categories, flags)
    named = f", {len(chosen)} of them chosen" if only or categories else ""
    click.echo(f"ok  {len(corpus.payloads)} attacks{named}, corpus {terminal(corpus.version)}, {corpus.digest}")


@command.command()
@_options.settings("corpus")
def path(**flags: Any) -> None:
    """Print the folder of the corpus in use: the built-in one, to copy from, or that of --corpus."""
    from payloads import loader

    click.echo(_options.resolve(flags).corpus or str(Path(loader.__file__).parent))


def _chosen(
    only: tuple[str, ...], categories: tuple[str, ...], flags: dict[str, Any]
) -> tuple[Corpus, tuple[Payload, ...]]:
    """The corpus, checked whole, and those of its attacks that were asked for."""
    from coordinator.corpora import checked_corpus, chosen_attacks

    corpus = checked_corpus(_options.resolve(flags).corpus)
    ids = chosen_attacks(corpus, only, categories)
    return corpus, tuple(one for one in corpus.payloads if ids is None or one.id in ids)
