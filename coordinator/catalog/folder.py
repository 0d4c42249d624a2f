"""Which files of a folder belong to the catalog.

Manifests under their known names count at any depth; other JSON, JSON Lines and YAML files only at the top level, where
they are lists. Links are not followed: a catalog comes from strangers, and a link could lead anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from coordinator.catalog.documents import MAX_LIST_BYTES, MAX_MANIFEST_BYTES
from coordinator.catalog.files import shown_path
from coordinator.catalog.listing import SUFFIXES
from coordinator.catalog.skill import Rejection

MAX_LEVELS = 16
MAX_NAMES = 1_000_000  # in one folder
SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})
COMPANIONS = frozenset(
    {
        "adapter.config.json", "package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml",
        "pnpm-workspace.yaml", "tsconfig.json", "jsconfig.json", "composer.json", "deno.json",
        "compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "mkdocs.yml", "renovate.json",
        "pyrightconfig.json", "bom.json", "environment.yml",
    }
)  # fmt: skip


class Found(Struct, frozen=True):
    """A file to read, of at most *most_bytes*."""

    path: Path
    most_bytes: int


def files(root: Path, known: frozenset[str]) -> Iterator[Found | Rejection]:
    """The files of the catalog *root*, in the order of their names; *known* are the names of manifests."""
    return _files(root, known, level=0)


def _files(folder: Path, known: frozenset[str], level: int) -> Iterator[Found | Rejection]:
    if level > MAX_LEVELS:
        yield _refused(folder, f"at most {MAX_LEVELS} levels of folders", "more")
        return
    try:
        with os.scandir(folder) as scan:
            names = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(scan, MAX_NAMES + 1))
    except OSError as error:
        yield _refused(folder, "a folder that can be read", error.strerror or str(error))
        return
    if len(names) > MAX_NAMES:
        yield _refused(folder, f"at most {MAX_NAMES:,} files in one folder", "more")
        return
    for name, is_folder in names:
        path = folder / name
        if name.startswith("."):
            continue
        if is_folder:
            if name not in SKIPPED:
                yield from _files(path, known, level + 1)
        elif name in known:
            yield Found(path, MAX_MANIFEST_BYTES)
        elif level == 0 and path.suffix.lower() in SUFFIXES and name not in COMPANIONS:
            yield Found(path, MAX_LIST_BYTES)


def _refused(path: Path, expected: str, found: str) -> Rejection:
    return Rejection(source=shown_path(path), pointer="", expected=expected, found=found)
