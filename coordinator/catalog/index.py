"""The entries of a catalog, streamed: a folder of manifests, or one file with one or many.

The formats are the modules of this folder that have a ``recognises``; a new one is a new file. What a document holds
decides its format, not what its file is called. Remembered for the length of a run is, for each skill, a hash of its id
and version and where it stood, so that a second one can be told where the first is.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

from msgspec import Struct

from coordinator.catalog.documents import MAX_LIST_BYTES, CatalogError, check
from coordinator.catalog.folder import Found, files
from coordinator.catalog.listing import Located, manifests, rejection
from coordinator.catalog.rejection import Rejected, shown
from coordinator.catalog.skill import Entry, Rejection, Skill

__all__ = ["CatalogError", "Format", "entries", "formats"]


class Format(Protocol):
    """What a module that reads one format offers.

    *DESCRIBED* names it, with the fields that tell it; *LACKS* are the fields of `Skill` that it has no place for, so
    that no manifest of it is blamed for leaving them out.
    """

    FILE_NAMES: tuple[str, ...]
    DESCRIBED: str
    LACKS: frozenset[str]

    def recognises(self, document: dict[str, Any]) -> bool:
        """Whether *document* means to be of this format."""
        ...

    def read(self, document: dict[str, Any], *, source: str, pointer: str, folder: Path | None) -> Skill:
        """The skill that *document* describes.

        Raises:
            Rejected: If it cannot be certified; its pointer starts at the document.
        """
        ...


@cache
def formats() -> dict[str, Format]:
    """The formats by the names of their modules, in alphabetical order."""
    package = importlib.import_module("coordinator.catalog")
    modules = {
        info.name: importlib.import_module(f"{package.__name__}.{info.name}")
        for info in pkgutil.iter_modules(package.__path__)
        if not info.name.startswith("_")
    }
    return {name: cast(Format, modules[name]) for name in sorted(modules) if hasattr(modules[name], "recognises")}


def lacks(skill: Skill) -> frozenset[str]:
    """The fields that the format of *skill* has no place for."""
    return formats()[skill.format].LACKS if skill.format in formats() else frozenset()


def entries(path: Path) -> Iterator[Entry]:
    """The skills and rejections of the catalog at *path*, in an order that depends on nothing but its content.

    Raises:
        CatalogError: If *path* is no file or folder that can be read (at once), or if it holds no manifest at all, good
            or bad (at the end).
    """
    return _entries(path, unread(path))


class Unread(Struct, frozen=True):
    """What stands in the catalog file at *path*, before it is read: the file itself, or one manifest of its list."""

    item: Found | Located | Rejection
    path: Path


def unread(path: Path) -> Iterator[Unread]:
    """What the catalog at *path* holds, in its order, as far as can be told without reading manifests.

    Raises:
        CatalogError: If *path* is no file or folder that can be read (at once).
    """
    expected = f"catalog {shown(str(path))}: expected a folder of manifests or a JSON, JSON Lines or YAML file"
    try:
        if path.is_dir():
            next(path.iterdir(), None)
            return _of_folder(path)
        if not path.is_file():
            found = "something that is neither" if path.exists() else "nothing"
            raise CatalogError(f"{expected}, found {found}; check the path")
        with path.open("rb"):
            return _of_file(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CatalogError(f"{expected}, found one that cannot be read ({reason}); check its permissions") from None


def read(one: Unread) -> Iterator[Entry]:
    """The entries that *one* turns out to hold. Whether the catalog has them twice, `Once` tells."""
    items = [one.item] if not isinstance(one.item, Found) else manifests(one.item.path, most_bytes=one.item.most_bytes)
    for item in items:
        if isinstance(item, Rejection):
            yield item
            continue
        try:
            yield _skill(item, one.path)
        except Rejected as no:
            yield rejection(item.source, item.pointer, no)


class Once:
    """Tells a second skill of the same id and version; kept is a hash of those, and where the first stands."""

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}

    def again(self, id_: str, version: str, source: str, pointer: str) -> Rejection | None:
        """Why the skill at *pointer* of *source* is one too many; None if it is the first."""
        key = hashlib.blake2b(f"{id_}\0{version}".encode(), digest_size=16).digest()
        if key not in self._first:
            self._first[key] = f"{source}#{pointer}" if pointer else source
            return None
        told = f"{shown(id_)} {shown(version)} again; the first is {self._first[key]}"
        return rejection(source, pointer, Rejected("", "each id and version once in a catalog", told))


def no_manifest(root: Path) -> CatalogError:
    """What is said of a catalog that holds no manifest at all."""
    names = sorted(name for form in formats().values() for name in form.FILE_NAMES)
    return CatalogError(
        f"catalog {shown(str(root))}: expected at least one manifest, found none; "
        f"a folder's manifests are called {', '.join(names)}, or are lists at its top level"
    )


def _of_folder(path: Path) -> Iterator[Unread]:
    known = frozenset(name for form in formats().values() for name in form.FILE_NAMES)
    for found in files(path, known):
        if isinstance(found, Rejection):
            yield Unread(found, path)
        elif found.path.name in known:
            yield Unread(found, found.path)
        else:
            for item in manifests(found.path, most_bytes=found.most_bytes):
                yield Unread(item, found.path)


def _of_file(path: Path) -> Iterator[Unread]:
    for item in manifests(path, most_bytes=MAX_LIST_BYTES, follow=True):
        yield Unread(item, path)


def _entries(root: Path, found: Iterator[Unread]) -> Iterator[Entry]:
    once = Once()
    any_entry = False
    for entry in (entry for one in found for entry in read(one)):
        any_entry = True
        if isinstance(entry, Rejection):
            yield entry
        else:
            yield once.again(entry.id, entry.version, entry.source, entry.pointer) or entry
    if not any_entry:
        raise no_manifest(root)


def _skill(item: Located, path: Path) -> Skill:
    check(item.value)
    known = formats().values()
    if not isinstance(item.value, dict):
        raise Rejected("", "a manifest, which is an object", shown(item.value))
    chosen = next((form for form in known if form.recognises(item.value)), None)
    if chosen is None:
        chosen = next((form for form in known if path.name in form.FILE_NAMES), None)
    if chosen is None:
        expected = "a manifest of a known format: " + ", ".join(form.DESCRIBED for form in known)
        raise Rejected("", expected, shown(item.value))
    return chosen.read(item.value, source=item.source, pointer=item.pointer, folder=path.parent)
