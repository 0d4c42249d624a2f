"""package.json: what the package asks for when it runs, mostly as ranges."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.catalog.rejection import shown
from coordinator.static.dependency import Dependency, npm
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._node import Node, each, json_node
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("package.json",)


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """The dependencies and the optional ones."""
    document = json_node(file)
    for member in ("dependencies", "optionalDependencies"):
        if (stated := document.get(member)) is not None:
            yield from each(stated.members(), _dependency)


def _dependency(name: str, node: Node) -> Iterator[Dependency]:
    found = npm(name, node.text(), node.at)
    if found is not None and found.package is None:
        raise node.broken("the name of a package", shown(name))
    if found is not None:
        yield found
