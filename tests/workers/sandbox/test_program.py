"""What a program is on this machine: its file, its environment, and what it cannot do without."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.faults import BadJob
from workers.sandbox.program import Program, environment, resolved


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with one installation, a person's home, and a skill's folder."""
    for folder in ("python/bin", "python/lib", "tool/bin", "home/.local/bin", "skill", "app/node_modules/.bin"):
        (tmp_path / folder).mkdir(parents=True)
    _program(tmp_path / "python/bin/python3", "")
    _program(tmp_path / "tool/bin/tool", f"#!{tmp_path}/python/bin/python3\n")
    _program(tmp_path / "home/.local/bin/own", "#!/bin/sh\n")
    script = tmp_path / "app/node_modules/server/dist/index.js"
    script.parent.mkdir(parents=True)
    _program(script, f"#!/usr/bin/env -S {tmp_path.name}-none\n")
    (tmp_path / "app/node_modules/.bin/server").symlink_to("../server/dist/index.js")
    (tmp_path / "home/.local/bin/tool").symlink_to(tmp_path / "tool/bin/tool")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/home/.local/bin:relative/bin:{tmp_path}/app/node_modules/.bin")
    return tmp_path


def _program(path: Path, content: str) -> None:
    path.write_text(content)
    path.chmod(0o755)


def needs(machine: Path, name: str) -> set[str]:
    found = resolved(Program(argv=(name,), folder=str(machine / "skill"))).needs
    return {Path(one).relative_to(machine).as_posix() for one in found if one.startswith(str(machine))}


def test_an_installation_is_needed_whole(machine: Path) -> None:
    """A program is read with what stands beside its folder, where its links lead, and its interpreter's own."""
    assert needs(machine, "tool") == {"home/.local/bin", "tool", "python"}


def test_a_persons_folders_are_not_opened_for_a_program_in_them(machine: Path) -> None:
    """Of ~/.local only the programs are readable: far more than programs lives beside them."""
    assert needs(machine, "own") == {"home/.local/bin"}


def test_a_script_of_npm_needs_its_neighbours(machine: Path) -> None:
    """What npm installed finds its dependencies in the node_modules around it."""
    assert "app/node_modules" in needs(machine, "server")


def test_relative_folders_of_the_path_do_not_count(machine: Path) -> None:
    """Where a program is looked up must not depend on where the worker stands."""
    made = environment(Program(argv=("own",), folder=str(machine)), "/home/of/its/own")

    assert made["PATH"] == f"{machine}/home/.local/bin:{machine}/app/node_modules/.bin"
    assert (made["HOME"], made["TMPDIR"]) == ("/home/of/its/own", "/home/of/its/own")


def test_a_program_of_the_machine_needs_no_folder(machine: Path) -> None:
    """One given by its path may have none; one that is looked up, or stands in it, may not."""
    path = str(machine / "tool/bin/tool")

    assert resolved(Program(argv=(path, "-v"), folder="")).argv == (path, "-v")
    for name in ("tool", "./tool"):
        with pytest.raises(BadJob, match="folder is not on the worker's machine"):
            resolved(Program(argv=(name,), folder=""))


def test_a_home_is_no_skills_folder(machine: Path) -> None:
    """A manifest that lies in somebody's home does not open it to its program."""
    with pytest.raises(BadJob, match="needs a folder of its own"):
        resolved(Program(argv=("own",), folder=str(machine / "home")))


@pytest.mark.parametrize("argv", [(), ("x",) * 201, ("a\0b",), ("x" * 10_001,)])
def test_a_command_is_bounded(machine: Path, argv: tuple[str, ...]) -> None:
    """Too many or too long arguments, and none at all, are no command."""
    with pytest.raises(BadJob, match="1 to 200 arguments"):
        resolved(Program(argv=argv, folder=str(machine / "skill")))
