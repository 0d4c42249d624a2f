"""uv.lock: ``[[package]]`` with name, version and source.

Only what the project's own packages lead to is installed with the skill; their ``dev-dependencies`` are not.
"""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.static.dependency import Dependency, pinned
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._node import Node, each, toml_node
from coordinator.static.lockfiles._reachable import reachable
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("uv.lock",)
OWN = ("editable", "virtual", "directory", "path")


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """The packages that are installed with the skill."""
    packages = toml_node(file).get("package")
    if packages is None:
        return
    own: set[str] = set()
    needs: dict[str, set[str]] = {}
    entries: list[tuple[str, Node]] = []
    for node in packages.items():
        try:
            name = node.required("name").text()
            source = node.get("source")
            needs.setdefault(name, set()).update(_needed(node))
            if source is not None and any(source.get(kind) is not None for kind in OWN):
                own.add(name)
            else:
                entries.append((name, node))
        except Broken as no:
            yield no
    wanted = reachable(own, lambda name: needs.get(name, ())) if own else needs.keys()
    yield from each(((name, node) for name, node in entries if name in wanted), _package)


def _needed(node: Node) -> Iterator[str]:
    """The names of the packages that *node* needs, extras among them."""
    if (direct := node.get("dependencies")) is not None:
        yield from (one.required("name").text() for one in direct.items())
    if (optional := node.get("optional-dependencies")) is not None:
        for _, extra in optional.members():
            yield from (one.required("name").text() for one in extra.items())


def _package(name: str, node: Node) -> Iterator[Dependency]:
    version = node.required("version").text()
    yield pinned(name, version, node.at)
