"""Where lock files lie: a folder, or an archive, which is read once and never unpacked. Names never lead out of it."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Protocol

from coordinator.catalog.files import read_file
from coordinator.catalog.rejection import Rejected
from coordinator.source.archive import Wanted, archived
from coordinator.source.entry import Gap
from coordinator.static.lockfiles._broken import Broken

MAX_FILE_BYTES = 8 << 20
MAX_SOURCE_BYTES = 16 << 20  # of all lock files of a source: YAML takes seconds for as much
BYTES = f"lock files of at most {MAX_SOURCE_BYTES:,} bytes in one source"
MAX_LEVELS = 6
MAX_NAMES = 20_000  # looked at, in all folders together
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
NAMED = (".txt", ".in")  # what a requirements file may name is kept of an archive as well

Chosen = Callable[[str], bool]  # whether a file of this name, without its folder, is a lock file


class Place(Protocol):
    """The files of one source, by their names: paths inside it, with slashes."""

    def lock_files(self) -> Iterator[str | Broken]:
        """The lock files, in the order of their names, and what cannot be looked at."""
        ...

    def read(self, name: str) -> bytes:
        """What the file *name* holds.

        Raises:
            Rejected: If it cannot be read, or is too large.
        """
        ...

    def inside(self, name: str) -> str | None:
        """*name*, which may have dots in it, as it is called here; None where it leads out."""
        ...

    def has(self, name: str) -> bool:
        """Whether there is a file *name*."""
        ...


class Folder:
    """A folder; *root* is absolute. Links are not followed, but from one lock file to another inside it."""

    def __init__(self, root: Path, chosen: Chosen) -> None:
        self._root = root
        self._chosen = chosen
        self._left = MAX_SOURCE_BYTES

    def lock_files(self) -> Iterator[str | Broken]:
        """See `Place`."""
        waiting, looked = [(self._root, 0)], 0
        while waiting:
            folder, level = waiting.pop()
            place = str(folder.relative_to(self._root))
            try:
                with os.scandir(folder) as scan:
                    entries = sorted(
                        (one.name, one.is_dir(follow_symlinks=False)) for one in islice(scan, MAX_NAMES - looked + 1)
                    )
            except OSError as error:
                yield Broken(place, "a folder that can be read", error.strerror or str(error))
                continue
            looked += len(entries)
            if looked > MAX_NAMES:
                yield Broken(place, f"at most {MAX_NAMES:,} files in one source", "more")
                return
            yield from (
                posixpath.normpath(f"{place}/{name}") for name, inner in entries if not inner and self._chosen(name)
            )
            if level < MAX_LEVELS:
                within = [name for name, inner in entries if inner and not _skipped(name)]
                waiting.extend((folder / name, level + 1) for name in reversed(within))

    def read(self, name: str) -> bytes:
        """See `Place`."""
        data = read_file(self._root / name, MAX_FILE_BYTES)
        if len(data) > self._left:
            raise Rejected("", BYTES, "more")
        self._left -= len(data)
        return data

    def inside(self, name: str) -> str | None:
        """See `Place`."""
        try:
            path = (self._root / name).resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        return str(path.relative_to(self._root)) if path.is_relative_to(self._root) else None

    def has(self, name: str) -> bool:
        """See `Place`."""
        return (self._root / name).is_file()


class Archive:
    """An archive. Of two files of one name the later counts, as when it is unpacked; that there are two is told."""

    def __init__(self, path: Path, chosen: Chosen) -> None:
        self._files: dict[str, bytes] = {}
        self._broken: list[Broken] = []

        def matters(name: str) -> bool:
            *folders, file = PurePosixPath(name).parts
            return chosen(file) and len(folders) <= MAX_LEVELS and not any(map(_skipped, folders))

        def opens(name: str) -> bool:
            return matters(name) or name.endswith(NAMED)

        left = {True: MAX_SOURCE_BYTES, False: MAX_SOURCE_BYTES}
        for one in archived(path, Wanted(opens=opens, matters=matters, most=MAX_FILE_BYTES)):
            if isinstance(one, Gap):
                if not one.name:
                    self._broken.append(Broken("/source_path", "an archive that can be read", one.reason))
                elif matters(one.name):
                    self._broken.append(Broken(f"{one.name}:1", "a file that can be read", f"one that {one.reason}"))
            elif len(one.data) <= left[matters(one.name)]:
                left[matters(one.name)] -= len(one.data)
                self._files[one.name] = one.data
            elif matters(one.name):
                self._broken.append(Broken(f"{one.name}:1", BYTES, "more"))
        self._lock_files = sorted(filter(matters, self._files))

    def lock_files(self) -> Iterator[str | Broken]:
        """See `Place`."""
        yield from self._broken
        yield from self._lock_files

    def read(self, name: str) -> bytes:
        """See `Place`."""
        if name not in self._files:
            raise Rejected("", "a file of the archive", "none of this name")
        return self._files[name]

    def inside(self, name: str) -> str | None:
        """See `Place`."""
        plain = posixpath.normpath(name)
        return None if plain.startswith(("../", "/")) or plain == ".." else plain

    def has(self, name: str) -> bool:
        """See `Place`."""
        return name in self._files


def _skipped(name: str) -> bool:
    return name.startswith(".") or name in SKIPPED
