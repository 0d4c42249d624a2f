"""The files of a source: of a folder, or of an archive that is read as a stream and never unpacked.

No link is followed, nothing but regular files is opened, and names that lead out of the archive are refused. All is
bounded; what a bound cut off is told as a `Gap`.
"""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from msgspec import Struct

from coordinator.catalog.files import opened, read_file
from coordinator.catalog.rejection import Rejected, printable
from coordinator.source.places import LEFT_OUT, Role, opaque, parsed, role

MAX_ENTRIES = 20_000
MAX_LEVELS = 24
MAX_FILE_BYTES = 1 << 20
MAX_TOTAL_BYTES = 48 << 20  # of what is read
MAX_UNPACKED_BYTES = 512 << 20  # of an archive, with what is passed over: a stream has to be unpacked to be passed
MAX_GAPS = 50
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
ARCHIVES = (".zip", ".whl", ".tar", ".tar.gz", ".tgz")
TEXTS = (
    ".md", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties",
    ".xml", ".html", ".pem", ".key", ".sh", ".bash", ".sql", ".lock", ".in", ".rst", ".go", ".rs", ".rb", ".php",
    ".java", ".ps1", ".bat", ".tf", ".ipynb", ".npmrc", ".pypirc",
)  # fmt: skip
BARE = frozenset({"dockerfile", "makefile", "procfile", "id_rsa", "id_ed25519", "id_ecdsa", ".env", ".npmrc", ".pypirc",
                  ".netrc", "credentials"})  # fmt: skip


class Entry(Struct, frozen=True):
    """One file: its *name* inside the source and its *data*."""

    name: str
    data: bytes


class Gap(Struct, frozen=True):
    """A part of the source that was not looked at, and why. *opaque*: its language is not analysed."""

    name: str
    reason: str
    opaque: bool = False


def entries(path: Path) -> Iterator[Entry | Gap]:
    """The files at *path*, a folder or an archive, that can hold something to be looked at, in the order of names."""
    found = _of_folder(path) if path.is_dir() else _of_archive(path)
    total = gaps = 0
    for one in found:
        if isinstance(one, Entry):
            total += len(one.data)
            if total > MAX_TOTAL_BYTES:
                yield Gap(one.name, f"the source has more than {MAX_TOTAL_BYTES >> 20} MiB to be read")
                return
            yield one
            continue
        gaps += 1
        if gaps > MAX_GAPS:
            yield Gap(one.name, f"more than {MAX_GAPS} places could not be looked at")
            return
        yield one


def wanted(name: str) -> bool:
    """Whether the file *name* can hold anything that is looked at."""
    path = PurePosixPath(name)
    if any(part in LEFT_OUT for part in path.parts[:-1]):
        return False
    file = path.name.lower()
    return bool(parsed(name)) or file.endswith(TEXTS) or file in BARE or file.startswith(".env")


def _matters(name: str) -> bool:
    """Whether not to have read *name* leaves open what the skill does."""
    return role(name) is Role.SHIPPED and bool(parsed(name) or opaque(name))


def _of_folder(root: Path) -> Iterator[Entry | Gap]:
    waiting, looked = [(root, PurePosixPath(), 0)], 0
    while waiting:
        folder, place, level = waiting.pop()
        try:
            with os.scandir(folder) as scan:
                found = sorted(
                    ((one.name, one.stat(follow_symlinks=False)) for one in islice(scan, MAX_ENTRIES - looked + 1)),
                    key=lambda one: one[0],
                )
        except OSError as error:
            yield Gap(printable(str(place)), f"cannot be read: {error.strerror}")
            continue
        looked += len(found)
        if looked > MAX_ENTRIES:
            yield Gap(printable(str(place)), f"the source has more than {MAX_ENTRIES:,} files")
            return
        inner = []
        for name, status in found:
            at = str(place / name)
            if stat.S_ISDIR(status.st_mode):
                if name in LEFT_OUT or name == "node_modules":
                    continue
                if level >= MAX_LEVELS:
                    yield Gap(printable(at), f"lies more than {MAX_LEVELS} folders deep")
                else:
                    inner.append((folder / name, place / name, level + 1))
            elif stat.S_ISREG(status.st_mode):
                yield from _of_file(folder / name, at, status.st_size)
            elif stat.S_ISLNK(status.st_mode) and (_matters(at) or "." not in name):
                yield Gap(printable(at), "is a symbolic link, which is not followed")
        waiting.extend(reversed(inner))


def _of_file(path: Path, name: str, size: int) -> Iterator[Entry | Gap]:
    if _is_opaque(name):
        yield Gap(printable(name), f"is {opaque(name)}, which is not analysed", opaque=True)
    if not wanted(name):
        return
    if size > MAX_FILE_BYTES:
        if _matters(name):
            yield _too_large(name)
        return
    try:
        yield Entry(printable(name), read_file(path, MAX_FILE_BYTES))
    except Rejected as no:
        yield Gap(printable(name), f"cannot be read: {no.found}")


def _of_archive(path: Path) -> Iterator[Entry | Gap]:
    try:
        with opened(path) as file:
            if path.name.lower().endswith((".zip", ".whl")):
                yield from _of_zip(file)
            else:
                yield from _of_tar(file)
    except Rejected as no:
        yield Gap(printable(path.name), f"cannot be read: {no.found}")
    except BROKEN:
        yield Gap(printable(path.name), "is damaged, or no archive of a kind that is read")
    except OSError as error:
        yield Gap(printable(path.name), f"cannot be read: {error.strerror}")


def _of_zip(file: BinaryIO) -> Iterator[Entry | Gap]:
    with zipfile.ZipFile(file) as archive:
        seen: set[str] = set()
        unpacked = 0
        for number, one in enumerate(archive.infolist()):
            if number >= MAX_ENTRIES:
                yield Gap("", f"the source has more than {MAX_ENTRIES:,} files")
                return
            if one.is_dir():
                continue
            mode = stat.S_IFMT(one.external_attr >> 16)
            odd = "" if mode in (0, stat.S_IFREG) else "is a link or a device"
            if one.flag_bits & 1:
                odd = "is encrypted"
            elif one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                odd = "is packed in a way that is not read"
            yield from _named(one.filename, odd, seen)
            if odd or not _inside(one.filename) or not _opens(one.filename):
                continue
            with archive.open(one) as document:
                data = document.read(MAX_FILE_BYTES + 1)
            unpacked += len(data)
            if unpacked > MAX_UNPACKED_BYTES:
                yield Gap("", f"more than {MAX_UNPACKED_BYTES >> 20} MiB, unpacked")
                return
            yield from _read(one.filename, data)


def _of_tar(file: BinaryIO) -> Iterator[Entry | Gap]:
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    with tarfile.open(fileobj=file, mode="r|gz" if packed else "r|") as archive:
        seen: set[str] = set()
        unpacked = 0
        for number, one in enumerate(archive):
            if number >= MAX_ENTRIES:
                yield Gap("", f"the source has more than {MAX_ENTRIES:,} files")
                return
            unpacked += max(0, one.size)
            if unpacked > MAX_UNPACKED_BYTES:
                yield Gap(printable(one.name), f"more than {MAX_UNPACKED_BYTES >> 20} MiB, unpacked")
                return
            if one.isdir():
                continue
            odd = "" if one.isreg() else "is a link or a device"
            yield from _named(one.name, odd, seen)
            if odd or not _inside(one.name) or not _opens(one.name):
                continue
            if (document := archive.extractfile(one)) is not None:
                yield from _read(one.name, document.read(MAX_FILE_BYTES + 1))


def _named(name: str, odd: str, seen: set[str]) -> Iterator[Gap]:
    """What is wrong with an archive's entry *name*; one that stands there twice could be read as either."""
    plain = str(PurePosixPath(name.replace("\\", "/")))
    if not _inside(name):
        yield Gap(printable(name), "is a name that leads out of the archive")
    elif odd:
        yield Gap(printable(name), odd)
    elif plain in seen:
        yield Gap(printable(name), "stands in the archive more than once")
    elif _is_opaque(name):
        yield Gap(printable(name), f"is {opaque(name)}, which is not analysed", opaque=True)
    seen.add(plain)


def _inside(name: str) -> bool:
    place = PurePosixPath(name.replace("\\", "/"))
    return bool(place.parts) and not place.is_absolute() and ".." not in place.parts and place.parts[0][1:2] != ":"


def _opens(name: str) -> bool:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return wanted(name.replace("\\", "/")) and "node_modules" not in parts


def _read(name: str, data: bytes) -> Iterator[Entry | Gap]:
    name = str(PurePosixPath(name.replace("\\", "/")))
    if len(data) <= MAX_FILE_BYTES:
        yield Entry(printable(name), data)
    elif _matters(name):
        yield _too_large(name)


def _is_opaque(name: str) -> bool:
    left_out = any(part in LEFT_OUT for part in PurePosixPath(name).parts[:-1])
    return bool(opaque(name)) and role(name) is Role.SHIPPED and not left_out


def _too_large(name: str) -> Gap:
    return Gap(printable(name), f"is larger than {MAX_FILE_BYTES >> 20} MiB")
