"""Packages that a catalog names, as the programs that are installed from them. Nothing is ever downloaded.

``pypi:NAME@VERSION`` is the console script called NAME, as such packages are run by custom; ``npm:NAME@VERSION`` is
the program on the PATH whose file lies in that package. Without the version any is taken; another than the one that
is named is not: the certificate would be another program's.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from workers.faults import BadJob
from workers.sandbox.program import Program

FOLDERS = 100
FILES = 10_000
PACKAGE_BYTES = 1 << 20

_PACKAGE = re.compile(
    r"(npm|pypi):((?:@[A-Za-z0-9._~-]{1,100}/)?[A-Za-z0-9._~-]{1,200})(?:@([A-Za-z0-9._+!-]{1,100}))?"
)


def located(program: Program) -> Program:
    """*program*, the package that its command names, if it does, replaced by the program installed from it.

    Raises:
        BadJob: If there is none on the PATH here, or one of another version.
    """
    match = _PACKAGE.fullmatch(program.argv[0])
    if match is None:
        return program
    kind, name, version = match.groups()
    path, installed = _npm(name) if kind == "npm" else _pypi(name)
    if not path:
        raise BadJob(f"the {kind} package {name} is not installed here (nothing on the PATH comes from it)")
    if version and installed and installed != version:
        raise BadJob(f"the {kind} package {name} is installed as {installed}, the manifest names {version}")
    return msgspec.structs.replace(program, argv=(path, *program.argv[1:]))


def _pypi(name: str) -> tuple[str, str]:
    path = shutil.which(name)
    if path is None:
        return "", ""
    wanted = _normal(name)
    # A console script stands in the bin folder of the environment that it belongs to.
    for info in Path(path).resolve().parent.parent.glob("lib/python3*/site-packages/*.dist-info"):
        package, _, version = info.name.removesuffix(".dist-info").partition("-")
        if _normal(package) == wanted:
            return path, version
    return path, ""


def _npm(name: str) -> tuple[str, str]:
    for path in _programs():
        target = Path(os.path.realpath(path))
        for folder in target.parents:
            if folder.as_posix().endswith(f"/node_modules/{name}"):
                return path, _npm_version(folder / "package.json")
    return "", ""


def _programs() -> Iterator[str]:
    """The links on the PATH: what npm installs, it links there."""
    for folder in os.environ.get("PATH", "").split(os.pathsep)[:FOLDERS]:
        try:
            with os.scandir(folder or ".") as scan:
                names = [entry.path for entry in islice(scan, FILES) if entry.is_symlink()]
        except OSError:
            continue
        yield from names


def _npm_version(path: Path) -> str:
    try:
        with path.open("rb") as file:
            package = msgspec.json.decode(file.read(PACKAGE_BYTES))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return ""
    version = package.get("version") if isinstance(package, dict) else None
    return version if isinstance(version, str) else ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
