"""pnpm-lock.yaml of versions 5, 6 and 9: ``packages`` by name and version; what only development needs is left out.

Source: https://github.com/pnpm/spec/tree/master/lockfile
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coordinator.catalog.rejection import shown
from coordinator.static.dependency import Dependency, npm
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._node import Node, each, yaml_node
from coordinator.static.lockfiles._reachable import reachable
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("pnpm-lock.yaml",)
# /name/1.2.3_peers (5), /name@1.2.3(peers) (6), name@1.2.3 (9).
SLASHES = re.compile(r"/((?:@[^/@]+/)?[^/@]+)/([^/_(]+)[^/]*", re.DOTALL)
AT = re.compile(r"/?((?:@[^/@(]+/)?[^/@(]+)@([^@(:/]+)(?:\(.*)?", re.DOTALL)
OWN = ("file:", "link:", "workspace:")
NEEDED = ("dependencies", "optionalDependencies")


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """The packages that are installed with the skill."""
    document = yaml_node(file)
    document.required("lockfileVersion")
    packages = document.get("packages")
    if packages is None:
        return
    wanted = _wanted(document)
    entries = ((key, node) for key, node in packages.members() if wanted is None or key in wanted)
    yield from each(entries, _package)


def _package(key: str, node: Node) -> Iterator[Dependency]:
    if key.startswith(OWN) or node.flag("dev"):
        return
    found = None
    if len(key) < 2_000:
        found = AT.fullmatch(key) or SLASHES.fullmatch(key)
    if found is not None:
        made = npm(found[1], found[2], node.at)
    elif (name := node.get("name")) is not None and (version := node.get("version")) is not None:
        made = npm(name.text(), version.text(), node.at)
    elif ":" in key or "/" in key.strip("/"):
        made = Dependency(at=node.at, stated=key, doubt="it comes from a URL, which does not say which package it is")
    else:
        raise node.broken("a package such as name@1.2.3", shown(key))
    if made is not None:
        yield made


def _wanted(document: Node) -> set[str] | None:
    """The keys of ``packages`` that the importers lead to; None where the file marks development itself (before 9)."""
    importers, snapshots = document.get("importers"), document.get("snapshots")
    if importers is None or snapshots is None:
        return None
    graph = dict(snapshots.members())
    roots = {key for _, importer in importers.members() for key in _needs(importer)}
    found = reachable(roots, lambda key: list(_needs(graph[key])) if key in graph else ())
    return {key.partition("(")[0] for key in found}


def _needs(node: Node) -> Iterator[str]:
    for member in NEEDED:
        if (stated := node.get(member)) is not None:
            for name, one in stated.members():
                version = (one if one.is_text() else one.required("version")).text()
                # An alias names its package itself.
                yield version if "@" in version.partition("(")[0] else f"{name}@{version}"
