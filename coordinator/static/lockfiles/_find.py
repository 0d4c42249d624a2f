"""The lock files of a source, and what they say."""

from __future__ import annotations

import fnmatch
import importlib
import os
import pkgutil
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Protocol, cast

from coordinator.static.dependency import Dependency
from coordinator.static.lockfiles._source import MAX_FILES, Broken, Budget, SourceFile

MAX_LEVELS = 6
MAX_NAMES = 20_000  # looked at, in all folders together
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


class LockFormat(Protocol):
    """What a module that reads one format offers; *NAMES* are patterns of file names."""

    NAMES: tuple[str, ...]

    def read(self, file: SourceFile) -> Iterator[Dependency | Broken]:
        """What *file* states, and its places that cannot be read.

        Raises:
            Broken: If the rest of it cannot be read either.
        """
        ...


@cache
def lock_formats() -> dict[str, LockFormat]:
    """The formats by the names of their modules, in alphabetical order."""
    package = importlib.import_module("coordinator.static.lockfiles")
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("_"))
    return {name: cast(LockFormat, importlib.import_module(f"{package.__name__}.{name}")) for name in names}


def stated(root: Path) -> Iterator[Dependency | Broken]:
    """What the lock and requirement files under *root* (absolute) state, in the order of their names."""
    found, budget = 0, Budget()
    for path in _lock_files(root):
        if isinstance(path, Broken):
            yield path
            continue
        found += 1
        file = SourceFile(root, path, budget)
        if found > MAX_FILES:
            yield Broken(f"{file.name}:1", f"at most {MAX_FILES} lock files in one source", "more")
            return
        for form in lock_formats().values():
            if any(fnmatch.fnmatchcase(path.name, name) for name in form.NAMES):
                try:
                    yield from form.read(file)
                except Broken as no:
                    yield no


def _lock_files(root: Path) -> Iterator[Path | Broken]:
    patterns = [name for form in lock_formats().values() for name in form.NAMES]
    waiting, looked = [(root, 0)], 0
    while waiting:
        folder, level = waiting.pop()
        try:
            with os.scandir(folder) as scan:
                entries = sorted(
                    (one.name, one.is_dir(follow_symlinks=False)) for one in islice(scan, MAX_NAMES - looked + 1)
                )
        except OSError as error:
            yield Broken(str(folder.relative_to(root)), "a folder that can be read", error.strerror or str(error))
            continue
        looked += len(entries)
        if looked > MAX_NAMES:
            yield Broken(str(folder.relative_to(root)), f"at most {MAX_NAMES:,} files in one source", "more")
            return
        for name, is_folder in entries:
            if not is_folder and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                yield folder / name
        if level < MAX_LEVELS:
            inner = [name for name, is_folder in entries if is_folder and not _skipped(name)]
            waiting.extend((folder / name, level + 1) for name in reversed(inner))


def _skipped(name: str) -> bool:
    return name.startswith(".") or name in SKIPPED
