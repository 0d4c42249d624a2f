"""One lock file, and those that it names."""

from __future__ import annotations

import posixpath

from coordinator.catalog.documents import text
from coordinator.catalog.rejection import Rejected, printable, shown
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._place import Place

MAX_FILES = 64


class SourceFile:
    """The file *called* so at *place*; those that name each other share what was *seen*."""

    def __init__(self, place: Place, called: str, seen: set[str] | None = None) -> None:
        self._place = place
        self._called = called
        self._seen = {called} if seen is None else seen
        self.name = printable(called)

    def text(self) -> str:
        """What it holds.

        Raises:
            Broken: If it cannot be read, is too large by itself or with those before it, or is no UTF-8.
        """
        try:
            return text(self._place.read(self._called))
        except Rejected as no:
            raise Broken(f"{self.name}:1", no.expected, no.found) from None

    def beside(self, name: str, line: int) -> SourceFile | None:
        """The file that *line* of this one calls *name*; None where it was read before.

        Raises:
            Broken: If it lies outside the source, is not there, or is one too many.
        """
        at = f"{self.name}:{line}"
        called = self._place.inside(posixpath.join(posixpath.dirname(self._called), name))
        if called is None:
            raise Broken(at, "a file inside the source", shown(name))
        if called in self._seen:
            return None
        if len(self._seen) >= MAX_FILES:
            raise Broken(at, f"at most {MAX_FILES} files that name each other", "more")
        if not self._place.has(called):
            raise Broken(at, "a file of the source", f"{shown(name)}, which is not there")
        self._seen.add(called)
        return SourceFile(self._place, called, self._seen)
