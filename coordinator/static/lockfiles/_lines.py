"""Which line of a document a value stands in; asked for only where something is wrong there."""

from __future__ import annotations

import json
import re
from json.decoder import WHITESPACE, scanstring  # type: ignore[attr-defined]

import yaml

Steps = tuple[str | int, ...]  # the names and numbers that lead to a value


def json_line(content: str, path: Steps) -> int:
    """The line of *content*, which is JSON, where the value at *path* begins; 1 where it cannot be found."""
    try:
        return content.count("\n", 0, _json_place(content, path)) + 1
    except (ValueError, IndexError, RecursionError):
        return 1  # numbers and depths that the strict reading bears, and this one does not


def _json_place(content: str, path: Steps) -> int:
    decoder = json.JSONDecoder()
    at = WHITESPACE.match(content, 0).end()
    for step in path:
        at = WHITESPACE.match(content, at + 1).end()
        number = 0
        while content[at] not in "]}":
            name: str | int = number
            if isinstance(step, str):
                name, at = scanstring(content, at + 1, True)
                at = WHITESPACE.match(content, at).end() + 1  # behind the colon
                at = WHITESPACE.match(content, at).end()
            if name == step:
                break
            _, at = decoder.raw_decode(content, at)
            at = WHITESPACE.match(content, at).end()
            if content[at] == ",":
                at = WHITESPACE.match(content, at + 1).end()
            number += 1
    return int(at)


def toml_line(content: str, path: Steps) -> int:
    """The line of *content*, which is TOML, where the table or key at *path* begins, as far as it is found."""
    lines, found, passed = content.splitlines(), 0, 0
    names: list[str] = []
    for step in path:
        if isinstance(step, int):
            passed = step
        else:
            names.append(step)
        header = re.escape(".".join(names))
        wanted = re.compile(rf"\s*\[\[?\s*{header}\s*\]\]?|\s*[\"']?{re.escape(names[-1])}[\"']?\s*=")
        for number in range(found, len(lines)):
            if wanted.match(lines[number]):
                if passed and lines[number].lstrip().startswith("[["):
                    passed -= 1
                    continue
                found = number
                break
    return found + 1


def yaml_tree(content: str) -> yaml.Node | None:
    """The nodes of *content*, which was read as YAML before, and so is no deeper than that allows."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return next(iter(yaml.compose_all(content, Loader=loader)), None)


def yaml_line(node: yaml.Node | None, path: Steps) -> int:
    """The line where the value at *path* of *node*, a `yaml_tree`, begins."""
    line = 0
    for step in path:
        if isinstance(node, yaml.MappingNode):
            key, node = next((pair for pair in node.value if pair[0].value == step), (None, None))
            line = key.start_mark.line if key is not None else line
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line
    return line + 1
