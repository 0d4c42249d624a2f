"""The files of a skill's source that a lock-file format may read: regular ones inside its folder, bounded in bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from coordinator.catalog.documents import text
from coordinator.catalog.files import read_file
from coordinator.catalog.rejection import Rejected, printable, shown

MAX_FILE_BYTES = 8 << 20
MAX_SOURCE_BYTES = 16 << 20  # of all lock files of a source: YAML takes seconds for as much
MAX_FILES = 64


class Broken(Exception):
    """A place of a lock file that cannot be read: where, what was *expected*, what was *found*.

    Where may be asked for later: a file of a hundred thousand broken entries is not searched for each of them.
    """

    def __init__(self, at: str | Callable[[], str], expected: str, found: str) -> None:
        super().__init__(expected, found)
        self._at = at
        self.expected = expected
        self.found = found

    @property
    def at(self) -> str:
        """File and line."""
        return self._at if isinstance(self._at, str) else self._at()

    def __str__(self) -> str:
        """One line: file, line, expected, found."""
        return f"{self.at}: expected {self.expected}, found {self.found}"


class Budget:
    """How many bytes may still be read of one source."""

    def __init__(self, left: int | None = None) -> None:
        self.left = MAX_SOURCE_BYTES if left is None else left


class SourceFile:
    """One file under *root*, the folder of the source; those that name each other share what was *seen*."""

    def __init__(self, root: Path, path: Path, budget: Budget | None = None, seen: set[Path] | None = None) -> None:
        self._root = root
        self._path = path
        self._budget = budget or Budget()
        self._seen = {path} if seen is None else seen
        self.name = printable(str(path.relative_to(root)))

    def text(self) -> str:
        """What it holds.

        Raises:
            Broken: If it cannot be read, is too large by itself or with those before it, or is no UTF-8.
        """
        try:
            data = read_file(self._path, MAX_FILE_BYTES)
            if len(data) > self._budget.left:
                raise Rejected("", f"lock files of at most {MAX_SOURCE_BYTES:,} bytes in one source", "more")
            self._budget.left -= len(data)
            return text(data)
        except Rejected as no:
            raise Broken(f"{self.name}:1", no.expected, no.found) from None

    def beside(self, name: str, line: int) -> SourceFile | None:
        """The file that *line* of this one calls *name*; None where it was read before.

        Raises:
            Broken: If it lies outside the source, is not there, or is one too many.
        """
        at = f"{self.name}:{line}"
        try:
            path = (self._path.parent / name).resolve()
        except (OSError, RuntimeError, ValueError):
            raise Broken(at, "the path of a file", shown(name)) from None
        if not path.is_relative_to(self._root):
            raise Broken(at, "a file inside the source", shown(name))
        if path in self._seen:
            return None
        if len(self._seen) >= MAX_FILES:
            raise Broken(at, f"at most {MAX_FILES} files that name each other", "more")
        if not path.is_file():
            raise Broken(at, "a file of the source", f"{shown(name)}, which is not there")
        self._seen.add(path)
        return SourceFile(self._root, path, self._budget, self._seen)
