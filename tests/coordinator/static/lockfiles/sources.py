"""A source of a few files, and what the lock-file formats make of it."""

from __future__ import annotations

from pathlib import Path

from coordinator.static.dependency import Dependency
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._find import stated


def source(folder: Path, **files: str) -> Path:
    """*folder* with *files*; in their names two underscores stand for a dot, three for a slash."""
    for name, content in files.items():
        path = folder / name.replace("___", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder.resolve()


def found(folder: Path, **files: str) -> tuple[list[str], list[str]]:
    """What *files* state, as ``name version-or-range``, and what cannot be read, as ``file:line``; each in order."""
    return told(source(folder, **files))


def told(place: Path) -> tuple[list[str], list[str]]:
    """The same of the folder or archive at *place*."""
    dependencies, broken = [], []
    for one in stated(place):
        if isinstance(one, Broken):
            broken.append(one.at)
        elif isinstance(one, Dependency):
            name = one.package.name if one.package else f"?{one.stated}"
            dependencies.append(f"{name} {one.version or one.allowed}".strip())
    return dependencies, broken
