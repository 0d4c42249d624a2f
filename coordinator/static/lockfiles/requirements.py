"""requirements.txt, as pip reads it: continuations, comments, hashes, markers, and other files by -r and -c.

Source: https://pip.pypa.io/en/stable/reference/requirements-file-format/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coordinator.catalog.rejection import shown
from coordinator.static.dependency import MAX_STATED_CHARS, Dependency, pep508
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("requirements.txt",)
MAX_LINES = 100_000
MAX_LINE_CHARS = 65_536  # hashes make long ones
FROM_URL = "it comes from a URL, which does not say which package it is"
COMMENT = re.compile(r"(?:^|\s)#.*")
OPTIONS = re.compile(r"\s--?[A-Za-z][A-Za-z-]*[= ].*", re.DOTALL)  # of one requirement: --hash=... and the like
FILE = re.compile(r"(-r|-c|--requirement|--constraint)(?:\s*=\s*|\s+|(?<=-[rc]))(\S.*)", re.DOTALL)
ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """The requirements of *file* and of those that it names."""
    waiting = [(file, False)]
    while waiting:
        one, constraint = waiting.pop()
        try:
            lines = list(_logical(one.text()))
        except Broken as no:
            yield no
            continue
        for number, line in lines[:MAX_LINES]:
            at = f"{one.name}:{number}"
            if len(line) > MAX_LINE_CHARS:
                yield Broken(at, f"a line of at most {MAX_LINE_CHARS:,} characters", "more")
            elif (named := FILE.fullmatch(line)) is not None:
                try:
                    if (other := one.beside(named[2].strip("'\" "), number)) is not None:
                        waiting.append((other, constraint or named[1] in ("-c", "--constraint")))
                except Broken as no:
                    yield no
            elif (found := _requirement(line, at, constraint)) is not None:
                yield found
        if len(lines) > MAX_LINES:
            yield Broken(f"{one.name}:{lines[MAX_LINES][0]}", f"at most {MAX_LINES:,} lines", "more")


def _logical(content: str) -> Iterator[tuple[int, str]]:
    """The lines, those that go on joined, without comments; with the number of the first."""
    start, parts = 0, list[str]()
    for number, line in enumerate(content.split("\n"), 1):
        line = line.rstrip("\r")
        start = start if parts else number
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            parts.append(line[:-1])
            continue
        whole = COMMENT.sub("", " ".join((*parts, line))).strip()
        parts.clear()
        if whole:
            yield start, whole
    if parts and (whole := COMMENT.sub("", " ".join(parts)).strip()):
        yield start, whole


def _requirement(line: str, at: str, constraint: bool) -> Dependency | Broken | None:
    if line.startswith(("-e ", "--editable")):
        line = re.sub(r"(?:-e|--editable)[= ]\s*", "", line)
        # A folder of the skill's own is its source, not a dependency.
        return Dependency(at=at, stated=line, doubt=FROM_URL) if ELSEWHERE.search(line) else None
    if line.startswith("-"):
        return None  # where packages come from, not which
    if ELSEWHERE.match(line):
        return Dependency(at=at, stated=line, doubt=FROM_URL)
    if line.startswith((".", "/")):
        return None
    stated = OPTIONS.sub("", line).strip()
    if len(stated) > MAX_STATED_CHARS:
        return Broken(at, f"a requirement of at most {MAX_STATED_CHARS:,} characters", "more")
    found = pep508(stated, at, constraint=constraint)
    if found is not None and found.package is None:
        return Broken(at, "a requirement, such as name==1.2", shown(stated))
    return found
