"""A value of a JSON, TOML or YAML document that knows where it stands, so that rubbish can be told with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

from coordinator.catalog.documents import MAX_DEPTH, json_value
from coordinator.catalog.rejection import Rejected, child, kind
from coordinator.catalog.yaml_documents import yaml_values
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._lines import Steps, json_line, toml_line, yaml_line, yaml_tree
from coordinator.static.lockfiles._source import SourceFile

MAX_ENTRIES = 100_000
MAX_YAML_CHARS = 4 << 20  # a megabyte of it takes a second
LINE = re.compile(r"line (\d+)")

T = TypeVar("T")


class Node:
    """*value* at *path* of the document in *file*."""

    def __init__(self, value: Any, path: Steps, file: str, line: Callable[[Steps], int]) -> None:
        self.value = value
        self.path = path
        self._file = file
        self._line = line

    @property
    def at(self) -> str:
        """File and JSON pointer."""
        pointer = ""
        for step in self.path:
            pointer = child(pointer, step)
        return f"{self._file}#{pointer}"

    def get(self, name: str) -> Node | None:
        """The member *name* of this object; None where it is missing or null."""
        value = self._of(dict, "an object").get(name)
        return None if value is None else self._inner(name, value)

    def required(self, name: str) -> Node:
        """The member *name* of this object, which must be there."""
        found = self.get(name)
        if found is None:
            raise self.broken(f"a member {name!r}", "none")
        return found

    def members(self) -> Iterator[tuple[str, Node]]:
        """The members of this object."""
        for number, (name, value) in enumerate(self._of(dict, "an object").items()):
            self._bounded(number)
            yield name, self._inner(name, value)

    def items(self) -> Iterator[Node]:
        """The items of this list."""
        for number, value in enumerate(self._of(list, "a list")):
            self._bounded(number)
            yield self._inner(number, value)

    def text(self) -> str:
        """The text that this is."""
        return str(self._of(str, "a text"))

    def is_text(self) -> bool:
        """Whether this is a text."""
        return isinstance(self.value, str)

    def flag(self, name: str) -> bool:
        """Whether the member *name* is true."""
        return self._of(dict, "an object").get(name) in (True, "true")

    def broken(self, expected: str, found: str) -> Broken:
        """What is wrong here, with file and line."""
        return Broken(lambda: f"{self._file}:{self._line(self.path)}", expected, found)

    def _of(self, what: type[T], expected: str) -> T:
        if not isinstance(self.value, what):
            raise self.broken(expected, kind(self.value))
        return self.value

    def _inner(self, step: str | int, value: Any) -> Node:
        return Node(value, (*self.path, step), self._file, self._line)

    def _bounded(self, number: int) -> None:
        if number >= MAX_ENTRIES:
            raise self.broken(f"at most {MAX_ENTRIES:,} entries", "more")


def each(nodes: Iterable[tuple[str, Node]], one: Callable[[str, Node], Iterable[T]]) -> Iterator[T | Broken]:
    """What *one* makes of each of *nodes*; one that is broken does not hide the others."""
    for name, node in nodes:
        try:
            yield from one(name, node)
        except Broken as no:
            yield no


def json_node(file: SourceFile) -> Node:
    """The JSON document in *file*.

    Raises:
        Broken: If it is none.
    """
    content = file.text()
    try:
        value = json_value(content)
    except Rejected as no:
        raise _broken(file, no.expected, no.found) from None
    return Node(value, (), file.name, lambda path: json_line(content, path))


def toml_node(file: SourceFile) -> Node:
    """The TOML document in *file*.

    Raises:
        Broken: If it is none.
    """
    content = file.text()
    try:
        value = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise _broken(file, "TOML", str(error)) from None
    except RecursionError:
        raise _broken(file, f"at most {MAX_DEPTH} levels of nesting", "far more") from None
    return Node(value, (), file.name, lambda path: toml_line(content, path))


def yaml_node(file: SourceFile) -> Node:
    """The YAML document in *file*; its plain words are texts.

    Raises:
        Broken: If it is none.
    """
    content = file.text()
    if len(content) > MAX_YAML_CHARS:
        raise _broken(file, f"YAML of at most {MAX_YAML_CHARS:,} characters", "more")
    try:
        value = next(yaml_values(content, texts=True), None)
    except Rejected as no:
        raise _broken(file, no.expected, no.found) from None
    composed = cache(lambda: yaml_tree(content))
    return Node(value, (), file.name, lambda path: yaml_line(composed(), path))


def _broken(file: SourceFile, expected: str, found: str) -> Broken:
    place = LINE.search(found)
    return Broken(f"{file.name}:{place[1] if place else 1}", expected, found)
