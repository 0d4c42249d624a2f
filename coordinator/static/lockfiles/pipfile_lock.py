"""Pipfile.lock: the ``default`` packages; the ``develop`` ones are not installed with the skill."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.static.dependency import Dependency, pep508
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._node import Node, each, json_node
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("Pipfile.lock",)


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """The packages that are installed with the skill."""
    yield from each(json_node(file).required("default").members(), _package)


def _package(name: str, node: Node) -> Iterator[Dependency]:
    if node.get("path") is not None:
        return
    version, markers = node.get("version"), node.get("markers")
    text = name + (version.text() if version else "") + (f"; {markers.text()}" if markers else "")
    found = pep508(text, node.at)
    if found is not None and found.package is None:
        raise node.broken("a package with a version such as ==1.2", text[:80])
    if found is not None:
        yield found
