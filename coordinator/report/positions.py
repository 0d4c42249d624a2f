"""Where the members of a JSON text stand: JSON pointer -> line. For reports that lead an editor to the place."""

from __future__ import annotations

import json
import re

from coordinator.catalog.rejection import child

MAX_CHARS = 1 << 20
MAX_MEMBERS = 50_000
PART = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)


def lines(text: str) -> dict[str, int]:
    """The line, from 1, at which each member of the JSON *text* begins; as far as it is JSON, and not too long."""
    found: dict[str, int] = {"": 1}
    path: list[str] = [""]  # of the open objects and lists
    steps: list[str | int] = []  # of each of those, the member that is being read: a name, or an index
    line, at, name = 1, 0, False  # name: the next text is the name of a member
    for match in PART.finditer(text[:MAX_CHARS]):
        line += text.count("\n", at, match.start())
        at = match.start()
        part = match.group()
        if part in "]}":
            if not steps:
                break
            steps.pop()
            path.pop()
            name = False
        elif part == ",":
            if steps and isinstance(steps[-1], int):
                steps[-1] += 1
            name = bool(steps) and isinstance(steps[-1], str)
        elif part == ":":
            name = False
        elif name and part.startswith('"'):
            steps[-1] = _text(part)
            found.setdefault(child(path[-1], steps[-1]), line)
        else:
            here = child(path[-1], steps[-1]) if steps else ""
            found.setdefault(here, line)
            if part in "[{":
                path.append(here)
                steps.append(0 if part == "[" else "")
                name = part == "{"
        if len(found) > MAX_MEMBERS:
            break
    return found


def line_of(pointer: str, known: dict[str, int]) -> int:
    """The line of *pointer*, or of the innermost member around it that is *known*."""
    while pointer and pointer not in known:
        pointer = pointer.rpartition("/")[0]
    return known.get(pointer, 1)


def _text(part: str) -> str:
    try:
        return str(json.loads(part, strict=False))
    except ValueError:
        return part
