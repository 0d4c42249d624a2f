"""Where a skill's source lies: the manifest's ``source_path``, from the manifest's own folder, inside the catalog's."""

from __future__ import annotations

import re
from pathlib import Path

from coordinator.catalog.rejection import shown
from coordinator.catalog.skill import Skill

LINE = re.compile(r":\d+$")  # of a manifest in a JSON Lines file


class NoSource(Exception):
    """The manifest names a source that is not there, or not where it may be; the message says which."""


def source_folder(skill: Skill, folder: Path) -> Path | None:
    """The folder of *skill*'s source, absolute; None where the manifest names none. *folder* is the catalog's.

    Raises:
        NoSource: If it lies outside the catalog, or is no folder.
    """
    if skill.source_path is None:
        return None
    root = folder.resolve()
    try:
        path = (Path(LINE.sub("", skill.source)).parent / skill.source_path).resolve()
        if not path.is_relative_to(root):
            raise NoSource(f"{shown(skill.source_path)} lies outside the catalog")
        if not path.is_dir():
            raise NoSource(f"{shown(skill.source_path)} is no folder of the catalog")
    except (OSError, RuntimeError, ValueError):
        raise NoSource(f"{shown(skill.source_path)} is no path of a folder") from None
    return path
