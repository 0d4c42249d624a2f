"""The lock files of a source, and what they say."""

from __future__ import annotations

import fnmatch
import importlib
import pkgutil
import posixpath
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from coordinator.static.dependency import Dependency
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._place import Archive, Folder, Place
from coordinator.static.lockfiles._source import MAX_FILES, SourceFile


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


def stated(source: Path) -> Iterator[Dependency | Broken]:
    """What the lock and requirement files of *source*, an absolute folder or archive, state; in the order of names."""
    found = 0
    place: Place = Folder(source, is_lock_file) if source.is_dir() else Archive(source, is_lock_file)
    for name in place.lock_files():
        if isinstance(name, Broken):
            yield name
            continue
        found += 1
        file = SourceFile(place, name)
        if found > MAX_FILES:
            yield Broken(f"{file.name}:1", f"at most {MAX_FILES} lock files in one source", "more")
            return
        for form in lock_formats().values():
            if _fits(posixpath.basename(name), form):
                try:
                    yield from form.read(file)
                except Broken as no:
                    yield no


def is_lock_file(name: str) -> bool:
    """Whether a file *name*, without its folder, is of one of the formats."""
    return any(_fits(name, form) for form in lock_formats().values())


def _fits(name: str, form: LockFormat) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in form.NAMES)
