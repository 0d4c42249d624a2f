"""The files of a source that can hold something to be looked at: of a folder, or of an archive (`archive`).

No link is followed, nothing but regular files is opened. All is bounded; what a bound cut off is told as a `Gap`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from coordinator.catalog.files import read_file
from coordinator.catalog.rejection import Rejected, printable
from coordinator.source.archive import Wanted, archived
from coordinator.source.entry import Entry, Gap
from coordinator.source.places import LEFT_OUT, Role, opaque, parsed, role, shipped_opaque

MAX_ENTRIES = 20_000
MAX_LEVELS = 24
MAX_FILE_BYTES = 1 << 20
MAX_TOTAL_BYTES = 48 << 20  # of what is read
MAX_GAPS = 50
TEXTS = (
    ".md", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties",
    ".xml", ".html", ".pem", ".key", ".sh", ".bash", ".sql", ".lock", ".in", ".rst", ".go", ".rs", ".rb", ".php",
    ".java", ".ps1", ".bat", ".tf", ".ipynb", ".npmrc", ".pypirc",
)  # fmt: skip
BARE = frozenset({"dockerfile", "makefile", "procfile", "id_rsa", "id_ed25519", "id_ecdsa", ".env", ".npmrc", ".pypirc",
                  ".netrc", "credentials"})  # fmt: skip


def entries(path: Path) -> Iterator[Entry | Gap]:
    """The files at *path*, a folder or an archive, that can hold something to be looked at, in the order of names."""
    found = _of_folder(path) if path.is_dir() else _archived(path)
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
    if shipped_opaque(name):
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


def _archived(path: Path) -> Iterator[Entry | Gap]:
    return archived(path, Wanted(opens=_opens, matters=_matters, most=MAX_FILE_BYTES))


def _opens(name: str) -> bool:
    return wanted(name) and "node_modules" not in PurePosixPath(name).parts


def _too_large(name: str) -> Gap:
    return Gap(printable(name), f"is larger than {MAX_FILE_BYTES >> 20} MiB")
