"""``skillmark certify``: the main job."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from coordinator.cli import _options, _results
from coordinator.cli._several import SeveralCommand


@click.command(cls=SeveralCommand, short_help="Certify every skill of a catalog.")
@click.argument("catalog", type=click.Path(path_type=Path))
@click.option("--benchmark", "benchmarks", multiple=True, metavar="ID|PATH", help="A benchmark; may be repeated.")
@click.option(
    "--mode", type=click.Choice(["live", "static"]), default="live", show_default=True, help="Call the skills?"
)
@click.option("--json", "as_json", is_flag=True, help="The records as one JSON object on stdout, instead of the table.")
@_results.format_option
@_options.repeats
@click.option("--exit-on-fail", is_flag=True, help="Exit with 1 unless every skill is certified.")
@click.option("--fail-under", type=click.FloatRange(0, 100), help="Exit with 1 if an overall score is below this.")
@click.option(
    "--resume", default="", metavar="RUN", help="Go on with a run that was cut short; same catalog and store."
)
@click.option("--only", multiple=True, metavar="ID", help="Send this attack and no other; may be repeated.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    metavar="NAME",
    help="Send the attacks of this category and no other; may be repeated. What is left out certifies nothing.",
)
@_options.settings(
    "benchmarks_dir",
    "policy",
    "corpus",
    "osv_database",
    "out",
    "allow_network",
    "allow_exec",
    "auth_env",
    *_options.CALLBACKS,
    "concurrency",
    "broker",
    "store",
    "metrics",
)
def command(
    catalog: Path,
    benchmarks: tuple[str, ...],
    mode: str,
    as_json: bool,
    formats: tuple[str, ...],
    repeats: int | None,
    k: int | None,
    exit_on_fail: bool,
    fail_under: float | None,
    resume: str,
    only: tuple[str, ...],
    categories: tuple[str, ...],
    **flags: Any,
) -> None:
    """Certify every skill of CATALOG: a folder of manifests, or one JSON, JSONL or YAML file.

    Without --broker, and in static mode, everything happens in this process, with nothing to install or start.

    \b
    Examples:
      skillmark certify catalog/ --out out/ --format html csv
      skillmark certify skills.jsonl --benchmark coding-easy --exit-on-fail
      skillmark certify catalog/ --allow-network 127.0.0.0/8 --json | jq .counts
      skillmark certify catalog/ --broker amqp://guest:guest@localhost/
    """
    from coordinator.catalog import index
    from coordinator.certify import Mode
    from coordinator.certifying import Request, certify_catalog
    from coordinator.cli._watching import watching
    from workers.wire import logs

    logs.configure()
    settings = _options.resolve(flags)
    request = Request(
        catalog=catalog,
        benchmarks=benchmarks,
        mode=Mode(mode),
        resume=resume,
        repeats=repeats,
        k=k,
        formats=formats,
        only=only,
        categories=categories,
    )
    with ExitStack() as stack:
        with watching(lambda: sum(1 for _ in index.entries(catalog))) as watchers:
            outcome = stack.enter_context(certify_catalog(request, settings, watchers=watchers))
        code = _results.show_certification(
            outcome, formats, as_json=as_json, exit_on_fail=exit_on_fail, fail_under=fail_under
        )
    sys.exit(code)
