"""The documents of an archive or a folder, one by one, each bounded; nothing is ever unpacked to disk.

Links are not followed, and an archive whose names lead out of it is refused: whoever made it meant something else.
"""

from __future__ import annotations

import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from coordinator.catalog.files import opened, read_file, shown_path
from coordinator.catalog.rejection import Rejected, shown
from coordinator.osv.record import MAX_RECORD_BYTES

MAX_DOCUMENTS = 4_000_000
MAX_TOTAL_BYTES = 16 << 30  # unpacked
MAX_LEVELS = 16
YAML = (".yaml", ".yml")
SUFFIXES = (".json", *YAML)
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def documents(path: Path) -> Iterator[tuple[str, bytes]]:
    """The JSON and YAML documents at *path* (a file, a folder, a zip or a tar), with their names.

    Raises:
        Rejected: If it cannot be read to its end, is too large, or is an archive that would escape its folder.
    """
    if path.is_dir():
        found = _of_folder(path, 0)
    elif path.suffix.lower() in SUFFIXES:
        found = iter([(shown_path(path), read_file(path, MAX_RECORD_BYTES, follow=True))])
    else:
        found = _of_archive(path)
    total = 0
    for number, (name, data) in enumerate(found, 1):
        total += len(data)
        if number > MAX_DOCUMENTS or total > MAX_TOTAL_BYTES:
            raise Rejected("", f"at most {MAX_DOCUMENTS:,} documents and {MAX_TOTAL_BYTES >> 30} GiB", "more")
        yield name, data


def _of_folder(folder: Path, level: int) -> Iterator[tuple[str, bytes]]:
    if level > MAX_LEVELS:
        raise Rejected("", f"at most {MAX_LEVELS} levels of folders", f"more in {shown_path(folder)}")
    try:
        with os.scandir(folder) as scan:
            entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in scan)
    except OSError as error:
        raise Rejected("", "a folder that can be read", f"{shown_path(folder)}: {error.strerror}") from None
    for name, is_folder in entries:
        path = folder / name
        if name.startswith(".") or path.is_symlink():
            continue
        if is_folder:
            yield from _of_folder(path, level + 1)
        elif path.suffix.lower() in SUFFIXES:
            yield shown_path(path), read_file(path, MAX_RECORD_BYTES)


def _of_archive(path: Path) -> Iterator[tuple[str, bytes]]:
    with opened(path, follow=True) as file:
        try:
            if zipfile.is_zipfile(file):
                yield from _of_zip(file)
            else:
                file.seek(0)
                yield from _of_tar(file)
        except BROKEN as error:
            raise Rejected("", "OSV records: JSON, YAML, a folder, a zip or a tar of them", shown(str(error))) from None
        except OSError as error:
            raise Rejected("", "a file that can be read", error.strerror or str(error)) from None


def _of_zip(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(file) as archive:
        if len(archive.infolist()) > MAX_DOCUMENTS:
            raise Rejected("", f"at most {MAX_DOCUMENTS:,} documents", "more")
        for entry in archive.infolist():
            if not entry.is_dir() and _wanted(entry.filename):
                with archive.open(entry) as document:
                    yield entry.filename, _bounded(entry.filename, document.read(MAX_RECORD_BYTES + 1))


def _of_tar(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for number, entry in enumerate(archive):
            if number > MAX_DOCUMENTS:
                raise Rejected("", f"at most {MAX_DOCUMENTS:,} entries", "more")
            # A stream cannot be sized beforehand: what is skipped is unpacked as well.
            if entry.size > MAX_TOTAL_BYTES:
                raise Rejected("", f"at most {MAX_TOTAL_BYTES >> 30} GiB", f"{entry.size:,} bytes in one entry")
            if entry.isreg() and _wanted(entry.name) and (document := archive.extractfile(entry)) is not None:
                yield entry.name, _bounded(entry.name, document.read(MAX_RECORD_BYTES + 1))


def _wanted(name: str) -> bool:
    place = PurePosixPath(name.replace("\\", "/"))
    if place.is_absolute() or ".." in place.parts:
        raise Rejected("", "names inside the archive", shown(name))
    hidden = any(part.startswith(".") for part in place.parts)
    return place.suffix.lower() in SUFFIXES and not hidden


def _bounded(name: str, data: bytes) -> bytes:
    if len(data) > MAX_RECORD_BYTES:
        raise Rejected("", f"documents of at most {MAX_RECORD_BYTES:,} bytes", f"more in {shown(name)}")
    return data
