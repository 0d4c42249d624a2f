"""poetry.lock, of all its versions: ``[[package]]`` with name and version; development groups are left out."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.static.dependency import Dependency, pinned
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._node import Node, each, toml_node
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("poetry.lock",)
OWN = ("directory", "file")


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """The packages that are installed with the skill."""
    packages = toml_node(file).get("package")
    yield from each((("", one) for one in packages.items()) if packages else (), _package)


def _package(_: str, node: Node) -> Iterator[Dependency]:
    name, version = node.required("name").text(), node.required("version").text()
    category, groups, source = node.get("category"), node.get("groups"), node.get("source")
    if category is not None and category.text() == "dev":
        return
    if groups is not None and not any(one.text() == "main" for one in groups.items()):
        return
    if source is not None and (kind := source.get("type")) is not None and kind.text() in OWN:
        return
    yield pinned(name, version, node.at)
