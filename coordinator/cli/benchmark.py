"""``skillmark benchmark``: the functional task sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from coordinator.cli import _options


@click.group(short_help="The functional task sets.")
def command() -> None:
    """The functional task sets: which there are, what is in them, and whether a file is one."""


@command.command("list")
@_options.settings("benchmarks_dir")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(as_json: bool, **flags: Any) -> None:
    """List the built-in benchmarks and those in --benchmarks-dir."""
    from benchmarks import loader
    from coordinator.report.escape import terminal

    for one in loader.listed(_folders(flags)):
        told: dict[str, Any] = {"id": one.id, "version": one.version, "domain": one.domain, "tasks": len(one.tasks)}
        line = f"{one.id:<20} {one.version:<8} {len(one.tasks):>4} tasks  {one.domain:<10} {one.name}"
        click.echo(json.dumps(told) if as_json else terminal(line))


@command.command()
@click.argument("name", metavar="ID|PATH")
@_options.settings("benchmarks_dir")
@click.option("--json", "as_json", is_flag=True, help="The benchmark as one JSON object.")
def show(name: str, as_json: bool, **flags: Any) -> None:
    """Show one benchmark, task by task."""
    import msgspec

    from benchmarks import loader
    from coordinator.report.escape import terminal

    one = loader.find(name, _folders(flags))
    if as_json:
        click.echo(json.dumps(msgspec.to_builtins(one, enc_hook=str)))
        return
    click.echo(terminal(f"{one.id} {one.version}: {one.name} ({one.domain}, {one.scoring_method})"))
    for task in one.tasks:
        expected = json.dumps(task.expected_output, ensure_ascii=False)
        click.echo(terminal(f"  {task.id}: {task.description}"))
        click.echo(terminal(f"      {json.dumps(task.input_data, ensure_ascii=False)} -> {task.evaluator} {expected}"))


@command.command()
@click.argument("names", metavar="ID|PATH...", nargs=-1, required=True)
@_options.settings("benchmarks_dir")
def check(names: tuple[str, ...], **flags: Any) -> None:
    """Check benchmarks as `certify` would before its first call; exits with 2 on the first that is wrong."""
    from benchmarks import loader
    from coordinator.report.escape import terminal
    from coordinator.tasks import benchmark_expectation

    for name in names:
        one = loader.find(name, _folders(flags))
        tasks = benchmark_expectation(one)
        click.echo(terminal(f"ok  {one.id} {one.version}: {len(tasks)} tasks, {one.digest}"))


def _folders(flags: dict[str, Any]) -> list[Path]:
    return [Path(folder) for folder in _options.resolve(flags).benchmarks_dir]
