"""``skillmark osv``: what is known of vulnerable packages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coordinator.cli import _failures, _options

if TYPE_CHECKING:
    from coordinator.osv.importing import Imported


@click.group(short_help="The database of known vulnerabilities.")
def command() -> None:
    """The local database of OSV records, which a skill's dependencies are looked up in."""


@command.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@_options.settings("osv_database")
def import_(paths: tuple[Path, ...], **flags: Any) -> None:
    """Take OSV records into the database: a zip dump, a tar, a folder of JSON or YAML, or one record.

    \b
    Examples:
      skillmark osv import all.zip
      skillmark osv import advisory-database/vulns/
    """
    from coordinator.inputs import osv_database
    from coordinator.osv.advisories import Advisories
    from coordinator.osv.importing import import_paths

    advisories = Advisories.open(osv_database(_options.resolve(flags)), create=True)
    try:
        _report(import_paths(advisories, paths))
    finally:
        advisories.close()


@command.command()
@click.option(
    "--ecosystem",
    "ecosystems",
    multiple=True,
    default=("PyPI", "npm"),
    show_default=True,
    metavar="NAME",
    help="As OSV calls it; may be repeated.",
)
@_options.settings("osv_database", "osv_url")
def update(ecosystems: tuple[str, ...], **flags: Any) -> None:
    """Download the published dumps and take them into the database; exits with 3 where they cannot be reached."""
    from coordinator.inputs import osv_database
    from coordinator.osv.advisories import Advisories
    from coordinator.osv.update import update as downloaded

    settings = _options.resolve(flags)
    advisories = Advisories.open(osv_database(settings), create=True)
    try:
        _report(downloaded(advisories, settings.osv_url, ecosystems))
    finally:
        advisories.close()


@command.command()
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
@_options.settings("osv_database", "policy")
def status(as_json: bool, **flags: Any) -> None:
    """Say what the database holds and how old it is; exits with 4 if it holds none, or older than the policy allows."""
    from datetime import UTC, datetime

    from coordinator import policy
    from coordinator.inputs import osv_database
    from coordinator.osv.advisories import Advisories

    settings = _options.resolve(flags)
    most = policy.load(Path(settings.policy) if settings.policy else None).security.dependencies.max_age_days
    advisories = Advisories.open(osv_database(settings))
    try:
        rows = [(one, (datetime.now(UTC) - one.as_of).total_seconds() / 86_400) for one in advisories.freshness()]
        told: dict[str, Any] = {
            "path": str(advisories.path),
            "digest": advisories.digest,
            "max_age_days": most,
            "ecosystems": [
                {
                    "ecosystem": one.ecosystem,
                    "records": one.records,
                    "as_of": one.as_of.isoformat(timespec="seconds"),
                    "stale": age > most,
                }
                for one, age in rows
            ],
        }
    finally:
        advisories.close()
    if as_json:
        click.echo(json.dumps(told, indent=2))
    else:
        click.echo(f"{told['path']}  {told['digest']}")
        for row in told["ecosystems"]:
            stale = f"  older than the {most:g} days that the policy allows" if row["stale"] else ""
            click.echo(f"{row['ecosystem']:<12} {row['records']:>9,} records as of {row['as_of']}{stale}")
        if not told["ecosystems"]:
            click.echo("it holds no record; `skillmark osv update` or `skillmark osv import` brings some")
    usable = told["ecosystems"] and not any(row["stale"] for row in told["ecosystems"])
    sys.exit(_failures.DONE if usable else _failures.INCOMPLETE)


def _report(done: Imported) -> None:
    for refusal in done.refusals:
        click.echo(refusal, err=True)
    ecosystems = ", ".join(sorted(done.ecosystems)) or "no package"
    click.echo(
        f"{done.taken:,} records taken ({done.withdrawn:,} of them withdrawn), {done.older:,} older than known ones, "
        f"{done.refused:,} refused, {done.other:,} other documents; {ecosystems}"
    )
    sys.exit(_failures.INCOMPLETE if done.refused else _failures.DONE)
