"""The files of a source that is an archive: read as a stream and never unpacked.

No link is followed, and names that lead out of the archive are refused. All is bounded; what a bound cut off is told as
a `Gap`.
"""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from msgspec import Struct

from coordinator.catalog.files import opened
from coordinator.catalog.rejection import Rejected, printable
from coordinator.source.entry import Entry, Gap
from coordinator.source.places import opaque, shipped_opaque

MAX_ENTRIES = 20_000
MAX_UNPACKED_BYTES = 512 << 20  # with what is passed over: a stream has to be unpacked to be passed
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
ARCHIVES = (".zip", ".whl", ".tar", ".tar.gz", ".tgz")


class Wanted(Struct, frozen=True):
    """Which files of an archive are read, by their names.

    *most* is the bytes of one; *matters* says whether to have passed over a larger one is told.
    """

    opens: Callable[[str], bool]
    matters: Callable[[str], bool]
    most: int


def archived(path: Path, wanted: Wanted) -> Iterator[Entry | Gap]:
    """The *wanted* files of the archive at *path*, in its own order; what is wrong with the whole of it has no name."""
    try:
        with opened(path) as file:
            if path.name.lower().endswith((".zip", ".whl")):
                yield from _of_zip(file, wanted)
            else:
                yield from _of_tar(file, wanted)
    except Rejected as no:
        yield Gap("", f"the archive cannot be read: {no.found}")
    except BROKEN:
        yield Gap("", "the archive is damaged, or of no kind that is read")
    except OSError as error:
        yield Gap("", f"the archive cannot be read: {error.strerror}")


def _of_zip(file: BinaryIO, wanted: Wanted) -> Iterator[Entry | Gap]:
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
            if odd or not _inside(one.filename) or not wanted.opens(_plain(one.filename)):
                continue
            with archive.open(one) as document:
                data = document.read(wanted.most + 1)
            unpacked += len(data)
            if unpacked > MAX_UNPACKED_BYTES:
                yield Gap("", f"more than {MAX_UNPACKED_BYTES >> 20} MiB, unpacked")
                return
            yield from _read(one.filename, data, wanted)


def _of_tar(file: BinaryIO, wanted: Wanted) -> Iterator[Entry | Gap]:
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
                yield Gap("", f"more than {MAX_UNPACKED_BYTES >> 20} MiB, unpacked")
                return
            if one.isdir():
                continue
            odd = "" if one.isreg() else "is a link or a device"
            yield from _named(one.name, odd, seen)
            if odd or not _inside(one.name) or not wanted.opens(_plain(one.name)):
                continue
            if (document := archive.extractfile(one)) is not None:
                yield from _read(one.name, document.read(wanted.most + 1), wanted)


def _named(name: str, odd: str, seen: set[str]) -> Iterator[Gap]:
    """What is wrong with an archive's entry *name*; one that stands there twice could be read as either."""
    plain = _plain(name)
    if not _inside(name):
        yield Gap(printable(name), "is a name that leads out of the archive")
    elif odd:
        yield Gap(printable(name), odd)
    elif plain in seen:
        yield Gap(printable(name), "stands in the archive more than once")
    elif shipped_opaque(name):
        yield Gap(printable(name), f"is {opaque(name)}, which is not analysed", opaque=True)
    seen.add(plain)


def _inside(name: str) -> bool:
    place = PurePosixPath(_plain(name))
    return bool(place.parts) and not place.is_absolute() and ".." not in place.parts and place.parts[0][1:2] != ":"


def _plain(name: str) -> str:
    return str(PurePosixPath(name.replace("\\", "/")))


def _read(name: str, data: bytes, wanted: Wanted) -> Iterator[Entry | Gap]:
    name = printable(_plain(name))
    if len(data) <= wanted.most:
        yield Entry(name, data)
    elif wanted.matters(name):
        yield Gap(name, f"is larger than {wanted.most >> 20} MiB")
