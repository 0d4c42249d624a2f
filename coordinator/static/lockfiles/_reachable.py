"""Which entries of a lock file a program needs when it runs: those that its own dependencies lead to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def reachable(roots: Iterable[Key], needs: Callable[[Key], Iterable[Key]]) -> set[Key]:
    """*roots* and all that they lead to, *needs* giving the next ones."""
    found: set[Key] = set()
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(needs(one))
    return found
