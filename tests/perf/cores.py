"""Which cores a part of the bench runs on: a skill that is timed has one of its own, as on another machine.

Sharing a core with a saturated fleet a skill waits for it before it looks at its own clock, and its record is short by
that wait, which its callers had.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


def everywhere() -> set[int]:
    """All cores that there are for us."""
    return os.sched_getaffinity(0)


def apart() -> tuple[set[int], set[int]]:
    """One core, and all the others; the same core twice where there is only one."""
    first, *others = sorted(everywhere())
    return {first}, set(others) or {first}


@contextmanager
def on(cores: set[int]) -> Iterator[None]:
    """For the length of the block *cores* run this thread, and the threads and processes that it starts."""
    before = everywhere()
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
