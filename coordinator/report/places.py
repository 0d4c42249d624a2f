"""Where findings stand: file and line, for reports that other programs read.

A file is named from the working folder where it lies inside, as a CI job wants it; else from the root of the file
system. Manifests are read again for their lines: a run keeps pointers, which stay true when a file is laid out anew.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from coordinator.catalog.files import read_file
from coordinator.catalog.rejection import Rejected
from coordinator.report.positions import MAX_CHARS, line_of, lines

IN_LINES = re.compile(r"(?P<file>.+):(?P<line>\d{1,9})", re.DOTALL)
IN_SOURCE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d{1,9}))?(?:#(?P<pointer>/.*))?", re.DOTALL)


class Place(Struct, frozen=True):
    """A line, from 1, of a *file*; *rooted*: from the root of the file system, else from the working folder.

    *pointer* leads into the file, empty for all of it.
    """

    file: str
    line: int = 1
    rooted: bool = False
    pointer: str = ""


class Places:
    """Finds places, from the folder *base*; remembers the lines of the last manifest."""

    def __init__(self, base: Path | None = None) -> None:
        self._base = (base or Path.cwd()).resolve()
        self._last: tuple[str, dict[str, int]] = ("", {})

    def of(self, source: str, location: str = "") -> Place:
        """The place of *location*, a pointer or a file of the source, of the skill at *source* of a record."""
        file, pointer, line = _parts(source)
        if location and not location.startswith("/"):
            match = IN_SOURCE.fullmatch(location)
            assert match is not None  # noqa: S101 - it matches every text that is not empty
            name, rooted = self._named(str(Path(file).parent / match["file"]))
            return Place(name, int(match["line"] or 1) or 1, rooted, match["pointer"] or "")
        name, rooted = self._named(file)
        pointer += location
        return Place(name, line or line_of(pointer, self._lines(file)), rooted, pointer)

    def _named(self, file: str) -> tuple[str, bool]:
        path = Path(file)
        if not path.is_absolute():
            return path.as_posix(), False
        if path.is_relative_to(self._base):
            return path.relative_to(self._base).as_posix(), False
        return path.relative_to(path.anchor).as_posix(), True

    def _lines(self, file: str) -> dict[str, int]:
        if self._last[0] != file:
            known: dict[str, int] = {}
            if file.endswith(".json"):
                try:
                    known = lines(read_file(Path(file), MAX_CHARS).decode("utf-8-sig"))
                except (Rejected, UnicodeDecodeError, ValueError):
                    known = {}  # gone or changed since: the file is all that can be named
            self._last = (file, known)
        return self._last[1]


def _parts(source: str) -> tuple[str, str, int]:
    """File, pointer and line (0: none is given) of a record's source."""
    file, mark, pointer = source.rpartition("#/")
    if mark:
        return file, f"/{pointer}", 0
    match = IN_LINES.fullmatch(source)
    if match and match["file"].endswith((".jsonl", ".ndjson")):
        return match["file"], "", int(match["line"])
    return source, "", 0
