"""The real advisories that lie beside the clone, where they do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from coordinator.osv.archive import documents
from coordinator.osv.record import Record, parse

ARCHIVE = Path(__file__).parents[4] / "shared" / "osv" / "pypa-advisories-2024-10.tar.gz"
needs_archive = pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"no advisory data at {ARCHIVE}")


@cache
def records() -> tuple[Record, ...]:
    """All of them, parsed once."""
    return tuple(_records())


def _records() -> Iterator[Record]:
    for _, data in documents(ARCHIVE):
        yield parse(data, yaml=True)
