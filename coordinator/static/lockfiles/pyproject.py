"""pyproject.toml: ``project.dependencies`` (PEP 621) and Poetry's own table; extras and groups are left out.

Source: https://python-poetry.org/docs/dependency-specification/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coordinator.catalog.rejection import shown
from coordinator.static.dependency import Dependency, pep508
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._node import Node, each, toml_node
from coordinator.static.lockfiles._source import SourceFile

NAMES = ("pyproject.toml",)
RELEASE = re.compile(r"\d+(?:\.\d+)*", re.ASCII)


def read(file: SourceFile) -> Iterator[Dependency | Broken]:
    """What the project needs when it runs."""
    document = toml_node(file)
    project, tool = document.get("project"), document.get("tool")
    if project is not None and (stated := project.get("dependencies")) is not None:
        yield from each((("", one) for one in stated.items()), _standard)
    poetry = tool.get("poetry") if tool is not None else None
    if poetry is not None and (stated := poetry.get("dependencies")) is not None:
        yield from each(stated.members(), _poetry)


def _standard(_: str, node: Node) -> Iterator[Dependency]:
    found = pep508(node.text(), node.at)
    if found is not None and found.package is None:
        raise node.broken("a requirement (PEP 508)", shown(node.value))
    if found is not None:
        yield found


def _poetry(name: str, node: Node) -> Iterator[Dependency]:
    if name == "python":
        return
    for one in node.items() if isinstance(node.value, list) else [node]:
        table = one if isinstance(one.value, dict) else None
        if table is not None and (table.get("path") is not None or table.flag("optional")):
            continue
        version = one if table is None else table.get("version")
        text = f"{name} {constraint(version.text())}" if version is not None else name
        found = pep508(text, one.at)
        if found is not None and found.package is None:
            raise one.broken("a version constraint of Poetry", shown(one.value))
        if found is not None:
            yield found


def constraint(text: str) -> str:
    """Poetry's *text* in the words of PEP 440; one with alternatives says nothing that could be translated: any."""
    if "||" in text:
        return ""
    return ",".join(_one(part.strip()) for part in text.split(",") if part.strip() not in ("", "*"))


def _one(part: str) -> str:
    mark, version = part[:1], part[1:].strip()
    if mark in "^~" and not part.startswith("~=") and (found := RELEASE.match(version)):
        numbers = [int(number) for number in found[0].split(".")]
        if mark == "^":
            kept = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
        else:
            kept = min(1, len(numbers) - 1)
        above = [*numbers[:kept], numbers[kept] + 1]
        return f">={version},<{'.'.join(map(str, above))}"
    return f"=={part}" if mark.isdigit() else part
