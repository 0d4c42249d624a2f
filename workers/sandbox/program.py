"""A command as it is run: the program found, its environment made anew, what it may use of the machine."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from workers.faults import BadJob

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
ARGUMENTS = 200
ARGUMENT_CHARS = 10_000
LINKS = 16
SHEBANG_BYTES = 256

_OURS = frozenset({"PATH", "HOME", "LANG", "TMPDIR"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
# Folders of programs: what stands beside one of these belongs to the same installation.
_PROGRAM_FOLDERS = frozenset({"bin", "sbin", "shims", "libexec"})


class NoProgram(Exception):
    """A program that should stand in the skill's own folder does not, or cannot be run; the message says which."""


class Program(Struct, frozen=True, kw_only=True):
    """*argv* as given, to be run in *folder*; *variables* are the values that its environment has beside our own.

    Without a *folder*, which only a program of the machine can be, it is run in its home.
    """

    argv: tuple[str, ...]
    folder: str
    variables: Mapping[str, str] = {}


class Resolved(Struct, frozen=True, kw_only=True):
    """*argv* begins with an absolute path; *folder* is one, or empty; *needs* are the folders that must be readable."""

    argv: tuple[str, ...]
    folder: str
    needs: tuple[str, ...]


class Limits(Struct, frozen=True, kw_only=True):
    """What one program and each that it starts may use.

    *data_bytes* is memory that it can write to, not address space: Node.js reserves far more of that than it uses.
    *processes* counts threads, and does not hold for root; *cpu_s* counts each process by itself.
    """

    cpu_s: int = 3_600
    data_bytes: int = 2 << 30
    file_bytes: int = 64 << 20
    open_files: int = 1_024
    processes: int = 256

    def named(self) -> dict[str, int]:
        """The limits under the names of the `resource` module."""
        return {
            "RLIMIT_CORE": 0,
            "RLIMIT_CPU": self.cpu_s,
            "RLIMIT_DATA": self.data_bytes,
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_NPROC": self.processes,
        }


def search_path() -> str:
    """Where programs are looked up: the absolute folders of the worker's own PATH."""
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder.startswith("/")]
    return os.pathsep.join(folders) or SYSTEM_PATH


def environment(program: Program, home: str) -> dict[str, str]:
    """Everything that the program finds in its environment.

    Raises:
        BadJob: If a variable cannot be set, or is one of ours.
    """
    for name, value in program.variables.items():
        if not _VARIABLE.fullmatch(name) or name in _OURS or name.startswith("LD_") or "\0" in value:
            raise BadJob(f"the program cannot be given a variable called {name[:80]!r}")
    return {**program.variables, "PATH": search_path(), "LANG": "C.UTF-8", "HOME": home, "TMPDIR": home}


def resolved(program: Program) -> Resolved:
    """*program* as it stands on this machine.

    Raises:
        BadJob: If the machine has no such program, or not the skill's folder.
        NoProgram: If it should stand in the skill's folder.
    """
    argv = program.argv
    if not argv or len(argv) > ARGUMENTS or any(len(one) > ARGUMENT_CHARS or "\0" in one for one in argv):
        raise BadJob(f"a command of 1 to {ARGUMENTS} arguments of at most {ARGUMENT_CHARS} characters can be run")
    folder = os.path.realpath(program.folder) if program.folder else ""
    if folder in ("/", str(Path.home())) or os.path.dirname(folder) == "/home":
        raise BadJob("a program needs a folder of its own; the one of this skill holds far more")
    if not os.path.isdir(folder) and (folder or not argv[0].startswith("/")):
        raise BadJob("the skill's folder is not on the worker's machine; programs are started where their files are")
    executable = _in_folder(argv[0], folder) if "/" in argv[0] else _on_path(argv[0])
    return Resolved(argv=(executable, *argv[1:]), folder=folder, needs=tuple(_needs(executable)))


def _in_folder(name: str, folder: str) -> str:
    path = os.path.normpath(os.path.join(folder, name))
    if os.path.isfile(path) and os.access(path, os.X_OK):
        return path
    if name.startswith("/"):
        raise BadJob(f"the worker's machine has no program {name[:200]}")
    what = "cannot be executed" if os.path.isfile(path) else "is not there"
    raise NoProgram(f"its program {name[:200]} {what}")


def _on_path(name: str) -> str:
    # Debian has no `python`; every manifest that says so means today's.
    for alias in (name, "python3") if name == "python" else (name,):
        path = shutil.which(alias, path=search_path())
        if path:
            return path
    raise BadJob(f"the worker's machine has no program {name[:200]!r} on its PATH")


def _needs(executable: str) -> list[str]:
    """The folders that *executable* cannot do without, its interpreter's among them."""
    folders: dict[str, None] = {}
    for path in _chain(executable):
        folders.update(dict.fromkeys(_around(path)))
        folders.update(dict.fromkeys(place for step in _chain(_interpreter(path)) for place in _around(step)))
    return list(folders)


def _chain(path: str) -> Iterator[str]:
    """*path* and the links that it leads over."""
    for _ in range(LINKS):
        if not path:
            return
        yield path
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if real != path:
            yield real
        try:
            path = os.path.normpath(os.path.join(os.path.dirname(real), os.readlink(real)))
        except OSError:
            return


def _around(path: str) -> Iterator[str]:
    folder = os.path.dirname(path)
    parts = path.split("/")
    if "node_modules" in parts:
        yield "/".join(parts[: parts.index("node_modules") + 1])
    above = os.path.dirname(folder)
    if os.path.basename(folder) not in _PROGRAM_FOLDERS or _is_personal(above):
        yield folder
    else:
        yield above


def _is_personal(folder: str) -> bool:
    """Whether far more than programs lives in *folder*."""
    home = str(Path.home())
    return folder in ("/", home, f"{home}/.local") or os.path.dirname(folder) in ("/", "/home")


def _interpreter(path: str) -> str:
    """The program that runs the script *path*; empty if it is no script."""
    try:
        with open(path, "rb") as file:
            head = file.read(SHEBANG_BYTES)
    except OSError:
        return ""
    if not head.startswith(b"#!"):
        return ""
    words = os.fsdecode(head[2:].partition(b"\n")[0]).split()
    if words and os.path.basename(words[0]) == "env":
        names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        return shutil.which(names[0], path=search_path()) or "" if names else ""
    return words[0] if words and words[0].startswith("/") else ""
