"""yarn.lock: the lines of Yarn 1, and the YAML of later ones ("berry").

Neither says what only development needs, so everything counts that is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coordinator.catalog.rejection import shown
from coordinator.static.dependency import Dependency, npm
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._node import MAX_ENTRIES, Node, each, yaml_node
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("yarn.lock",)
BERRY = re.compile(r"^__metadata:", re.MULTILINE)
DESCRIPTOR = re.compile(r"((?:@[^/@]+/)?[^@/]+)@(.*)")
FIELD = re.compile(r'  (version|resolved) "?([^"]*)"?')
RESOLUTION = re.compile(r"((?:@[^/@]+/)?[^@/]+)@([a-z]+):(.*)", re.DOTALL)
OWN = ("workspace", "link", "portal", "file")
MAX_LINE_CHARS = 65_536


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """The packages that are installed."""
    content = file.text()
    if BERRY.search(content):
        yield from each(yaml_node(file).members(), _berry)
    else:
        yield from _classic(content, file.name)


def _berry(key: str, node: Node) -> Iterator[Dependency]:
    if key == "__metadata":
        return
    resolution = node.required("resolution").text()
    found = RESOLUTION.fullmatch(resolution) if len(resolution) < MAX_LINE_CHARS else None
    if found is None:
        raise node.broken("a resolution such as name@npm:1.2.3", shown(resolution))
    if found[2] in OWN:
        return
    yield from _package(found[1], node.required("version").text(), node.at)


def _classic(content: str, name: str) -> Iterator[Dependency | Broken]:
    entry, started, number, known = "", 0, 0, 0
    for number, line in enumerate(content.split("\n"), 1):
        line = line.rstrip("\r")
        at = f"{name}:{number}"
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if len(line) > MAX_LINE_CHARS:
            yield Broken(at, f"a line of at most {MAX_LINE_CHARS:,} characters", "more")
        elif not line.startswith(" "):
            if entry:
                yield Broken(f"{name}:{started}", "an entry with a version", "none")
            known += 1
            if known > MAX_ENTRIES:
                yield Broken(at, f"at most {MAX_ENTRIES:,} entries", "more")
                return
            entry, started = _entry(line), number
            if not entry:
                yield Broken(at, "an entry such as name@^1.2.3:", shown(line))
        elif entry and (field := FIELD.fullmatch(line)) is not None and field[1] == "version":
            yield from _package(entry, field[2], f"{name}:{started}")
            entry = ""
    if entry:
        yield Broken(f"{name}:{started}", "an entry with a version", "none")


def _entry(line: str) -> str:
    """The name of the package whose entry *line* begins; for an alias, that of what it stands for."""
    found = DESCRIPTOR.fullmatch(line[:-1].split(",")[0].strip('" ')) if line.endswith(":") else None
    if found is None:
        return ""
    if found[2].startswith("npm:"):
        return found[2].removeprefix("npm:").rpartition("@")[0] or found[2].removeprefix("npm:")
    return found[1]


def _package(name: str, version: str, at: str) -> Iterator[Dependency]:
    if (found := npm(name, version, at)) is not None:
        yield found
