"""Where a skill's source lies: the manifest's ``source_path``, from the manifest's own folder, inside the catalog's."""

from __future__ import annotations

import re
from pathlib import Path

from coordinator.catalog.rejection import shown
from coordinator.catalog.skill import Skill

LINE = re.compile(r":\d+$")  # of a manifest in a JSON Lines file


class NoSource(Exception):
    """The manifest names a source that is not there, or not where it may be; the message says which."""


def source_place(skill: Skill, folder: Path) -> Path:
    """The folder or archive of *skill*'s source, absolute; *folder* is the catalog's.

    Raises:
        NoSource: If none is named, or it lies outside the catalog, or is neither.
    """
    if skill.source_path is None:
        raise NoSource("no source is given")
    # Not at the top: it brings the parsers of two languages along.
    from coordinator.source.archive import ARCHIVES

    try:
        path = (Path(LINE.sub("", skill.source)).parent / skill.source_path).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise NoSource(f"{shown(skill.source_path)} lies outside the catalog")
        if path.is_dir() or (path.is_file() and path.name.lower().endswith(ARCHIVES)):
            return path
    except (OSError, RuntimeError, ValueError):
        raise NoSource(f"{shown(skill.source_path)} is no path") from None
    raise NoSource(f"{shown(skill.source_path)} is no folder and no archive ({', '.join(ARCHIVES)}) of the catalog")
