"""Opening the files of a catalog: regular ones only, no links followed, never more bytes than allowed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from coordinator.catalog.rejection import Rejected, printable

SPECIAL = "a device, pipe, socket or folder"


def shown_path(path: Path) -> str:
    """*path* as text; bytes of it that are not UTF-8, and control characters, as escapes."""
    return printable(str(path))


@contextmanager
def opened(path: Path, *, follow: bool = False) -> Iterator[BinaryIO]:
    """The regular file at *path*, open for reading.

    Raises:
        Rejected: If it cannot be opened, is a link (unless *follow*), or is no regular file. A named pipe is refused,
            not waited for.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        if not follow and path.is_symlink():
            raise Rejected("", "a file", "a symbolic link")
        descriptor = os.open(path, flags)
    except OSError as error:
        raise Rejected("", "a file that can be read", error.strerror or str(error)) from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Rejected("", "a file", SPECIAL)
        yield file


def read_file(path: Path, most: int, *, follow: bool = False) -> bytes:
    """The bytes of the file at *path*, *most* at most.

    Raises:
        Rejected: If it cannot be read or is larger.
    """
    with opened(path, follow=follow) as file:
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise Rejected("", "a file that can be read", error.strerror or str(error)) from None
    if len(data) > most:
        raise Rejected("", f"at most {most:,} bytes", "more")
    return data
