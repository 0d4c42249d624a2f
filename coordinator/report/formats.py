"""The formats of a report: the modules of this folder with a ``FILE`` and a ``render``; a new one is a new file."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from coordinator.report.report import Report
from coordinator.settings import SettingsError

DEFAULT = ("html", "markdown")
RESULTS = "jsonl"


class ReportsUnwritten(Exception):
    """The reports could not be written after all; the message says which, why, and how to write them again."""


class Renderer(Protocol):
    """What a module that renders one format offers: the name of its file, and its text in pieces."""

    FILE: str

    def render(self, report: Report) -> Iterator[str]:
        """The report, piece by piece; text of others is escaped for where it stands."""
        ...


@cache
def renderers() -> dict[str, Renderer]:
    """The renderers by the names of their modules, which are the names of the formats."""
    package = importlib.import_module("coordinator.report")
    modules = {
        info.name: importlib.import_module(f"{package.__name__}.{info.name}")
        for info in pkgutil.iter_modules(package.__path__)
    }
    return {
        name: cast(Renderer, module)
        for name, module in sorted(modules.items())
        if hasattr(module, "FILE") and hasattr(module, "render")
    }


def checked(names: Sequence[str]) -> tuple[str, ...]:
    """*names*, each once.

    Raises:
        SettingsError: If there is no such format.
    """
    for name in names:
        if name not in renderers():
            raise SettingsError(f"format: expected one of {', '.join(renderers())}, found {name[:80]!r}")
    return tuple(dict.fromkeys(names))


def write(folder: Path, names: Sequence[str], report: Report) -> tuple[Path, ...]:
    """Write results.jsonl and the formats called *names* to *folder*.

    A file that stood there is replaced when the new one is whole.

    Raises:
        ReportsUnwritten: If the disk is full, or does not take one of the files.
    """
    return tuple(_write(folder, renderers()[name], report) for name in dict.fromkeys((RESULTS, *names)))


def _write(folder: Path, renderer: Renderer, report: Report) -> Path:
    path = folder / renderer.FILE
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")  # two runs may share a folder
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            for piece in renderer.render(report):
                file.write(piece)
        return partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ReportsUnwritten(
            f"{path}: expected a file that can be written, found: {error.strerror}; the store has every verdict, and "
            f"`skillmark run export {report.run_id} --out DIR` writes the reports"
        ) from error
