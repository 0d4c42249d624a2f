"""The manifests in one file: JSON, JSON Lines, YAML or front matter; one or many, in the order in which they stand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from coordinator.catalog.documents import MAX_MANIFEST_BYTES, Twice, json_value, text
from coordinator.catalog.files import opened, read_file, shown_path
from coordinator.catalog.front_matter import front_matter
from coordinator.catalog.rejection import Rejected, shown
from coordinator.catalog.skill import Rejection

LINES = (".jsonl", ".ndjson")
YAML = (".yaml", ".yml")
MARKDOWN = ".md"
SUFFIXES = (".json", *LINES, *YAML)
CARD = {"name", "capabilities", "supportedInterfaces", "url"}  # an agent card lists skills, but is a manifest itself
ONE_OR_MORE = 'a manifest, a list of manifests, or an object with a list "skills"'


class Located(Struct, frozen=True):
    """One manifest, still unchecked, and where it stands."""

    value: Any
    source: str
    pointer: str


def manifests(path: Path, *, most_bytes: int, follow: bool = False) -> Iterator[Located | Rejection]:
    """What the file at *path* lists; a line of JSON Lines or a whole file that cannot be read is a rejection."""
    source = shown_path(path)
    suffix = path.suffix.lower()
    try:
        if suffix in LINES:
            with opened(path, follow=follow) as file:
                yield from _lines(file, source)
            return
        content = text(read_file(path, most_bytes, follow=follow))
        if suffix in YAML:
            from coordinator.catalog.yaml_documents import yaml_values  # not at the top: slow to import

            values = list(yaml_values(content))
            value = values[0] if len(values) == 1 else values
        elif suffix == MARKDOWN:
            value = front_matter(content)
        else:
            value = json_value(content)
        del content
        yield from _listed(value, source)
    except Rejected as no:
        yield rejection(source, "", no)


def rejection(source: str, pointer: str, no: Rejected) -> Rejection:
    """The rejection of what stands at *pointer* of *source*."""
    return Rejection(source=source, pointer=pointer + no.pointer, expected=no.expected, found=no.found)


def is_list(value: Any) -> bool:
    """Whether *value* is an object that only carries a list of manifests."""
    return isinstance(value, dict) and isinstance(value.get("skills"), list) and not value.keys() & CARD


def _listed(value: Any, source: str) -> Iterator[Located | Rejection]:
    if is_list(value) and not isinstance(value, Twice):
        items, pointer = value["skills"], "/skills"
    elif isinstance(value, list):
        items, pointer = value, ""
    else:
        if not isinstance(value, dict):
            raise Rejected("", ONE_OR_MORE, shown(value))
        yield Located(value, source, "")
        return
    for index, item in enumerate(items):
        yield Located(item, source, f"{pointer}/{index}")


def _lines(file: BinaryIO, source: str) -> Iterator[Located | Rejection]:
    number = 0
    while line := file.readline(MAX_MANIFEST_BYTES + 1):
        number += 1
        where = f"{source}:{number}"
        try:
            if len(line) > MAX_MANIFEST_BYTES:
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_MANIFEST_BYTES)
                raise Rejected("", f"a line of at most {MAX_MANIFEST_BYTES:,} bytes", "more")
            content = text(line)
            if content.strip():
                yield Located(json_value(content), where, "")
        except Rejected as no:
            yield rejection(where, "", no)
