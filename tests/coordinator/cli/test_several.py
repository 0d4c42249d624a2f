from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from coordinator.cli._several import Several, SeveralCommand


@click.command(cls=SeveralCommand)
@click.argument("place", default="")
@click.option("--format", "formats", cls=Several, among=("a", "b"), type=click.Choice(["a", "b"]))
@click.option("--paths", cls=Several)
@click.option("--flag", is_flag=True)
def command(place: str, formats: tuple[str, ...], paths: tuple[str, ...], flag: bool) -> None:
    click.echo(f"{place}|{' '.join(formats)}|{' '.join(paths)}|{flag}")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--format", "a", "b"], "|a b||False"),
        (["--format", "a", "--format", "b"], "|a b||False"),
        (["--format", "a", "b", "here"], "here|a b||False"),
        (["here", "--format", "a"], "here|a||False"),
        (["--format=a", "here"], "here|a||False"),
        (["--paths", "x", "y", "z", "--flag", "here"], "here||x y z|True"),
        (["--paths", "x", "--format", "a", "b"], "|a b|x|False"),
        (["--paths", "x", "--", "here"], "here||x|False"),
        ([], "|||False"),
    ],
)
def test_a_row_of_values_is_a_repeated_option(arguments: list[str], told: str) -> None:
    """A row ends at an option, at ``--``, or at a word that is no value; a single value is as ever."""
    result = CliRunner().invoke(command, arguments)

    assert result.output.strip() == told


@pytest.mark.parametrize("arguments", [["--format", "c"], ["--format"], ["--format", "a", "b", "x", "y"]])
def test_wrong_values_are_refused_as_ever(arguments: list[str]) -> None:
    """Click's own checks stay."""
    assert CliRunner().invoke(command, arguments).exit_code == 2
