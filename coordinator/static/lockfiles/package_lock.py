"""package-lock.json and npm-shrinkwrap.json: ``packages`` by folder (versions 2 and 3), else nested ``dependencies``.

Source: https://docs.npmjs.com/cli/configuring-npm/package-lock-json
"""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.static.dependency import Dependency, npm
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._node import MAX_ENTRIES, Node, each, json_node
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("package-lock.json", "npm-shrinkwrap.json")
INSTALLED = "node_modules/"


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """The packages that are installed with the skill."""
    document = json_node(file)
    if (packages := document.get("packages")) is not None:
        yield from each(packages.members(), _installed)
    elif (nested := document.get("dependencies")) is not None:
        yield from _nested(nested)
    elif document.get("lockfileVersion") is None:
        raise document.broken("a lock file of npm (lockfileVersion)", "none")


def _installed(folder: str, node: Node) -> Iterator[Dependency]:
    _, found, name = folder.rpartition(INSTALLED)
    if not found or node.flag("link") or node.flag("dev"):
        return
    alias = node.get("name")
    yield from _package(alias.text() if alias else name, node)


def _nested(root: Node) -> Iterator[Dependency | Broken]:
    waiting, taken = [root], 0
    while waiting:
        try:
            members = list(waiting.pop().members())
        except Broken as no:
            yield no
            continue
        taken += len(members)
        if taken > MAX_ENTRIES:
            yield root.broken(f"at most {MAX_ENTRIES:,} entries", "more")
            return
        for name, node in members:
            try:
                if not node.flag("dev"):
                    yield from _package(name, node)
                    if (inner := node.get("dependencies")) is not None:
                        waiting.append(inner)
            except Broken as no:
                yield no


def _package(name: str, node: Node) -> Iterator[Dependency]:
    found = npm(name, node.required("version").text(), node.at)
    if found is not None and found.package is None:
        raise node.broken("the name of a package", name[:80])
    if found is not None:
        yield found
