"""A CycloneDX bill of materials as JSON: components with package URLs, nested ones too.

Source: https://cyclonedx.org/docs/1.6/json/
"""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.static.dependency import Dependency, purl
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._node import MAX_ENTRIES, Node, json_node
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("bom.json", "*.cdx.json", "sbom.json")
PACKAGES = ("library", "framework", "application")


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """The components that are in use."""
    document = json_node(file)
    form = document.required("bomFormat")
    if form.value != "CycloneDX":
        raise form.broken('"CycloneDX"', "another format")
    waiting, taken = [document], 0
    while waiting:
        components = waiting.pop().get("components")
        for node in components.items() if components is not None else ():
            taken += 1
            if taken > MAX_ENTRIES:
                raise document.broken(f"at most {MAX_ENTRIES:,} components", "more")
            try:
                yield from _component(node)
                waiting.append(node)
            except Broken as no:
                yield no


def _component(node: Node) -> Iterator[Dependency]:
    scope, kind, url = node.get("scope"), node.required("type").text(), node.get("purl")
    if (scope is not None and scope.text() == "excluded") or kind not in PACKAGES:
        return
    if url is not None:
        yield purl(url.text(), node.at)
    elif kind == "library":
        name = node.required("name").text()
        yield Dependency(at=node.at, stated=name, doubt="it has no package URL to say which package it is")
