"""A place of a lock file that cannot be read."""

from __future__ import annotations

from collections.abc import Callable


class Broken(Exception):
    """A place of a lock file that cannot be read: where, what was *expected*, what was *found*.

    Where may be asked for later: a file of a hundred thousand broken entries is not searched for each of them.
    """

    def __init__(self, at: str | Callable[[], str], expected: str, found: str) -> None:
        super().__init__(expected, found)
        self._at = at
        self.expected = expected
        self.found = found

    @property
    def at(self) -> str:
        """File and line."""
        return self._at if isinstance(self._at, str) else self._at()

    def __str__(self) -> str:
        """One line: file, line, expected, found."""
        return f"{self.at}: expected {self.expected}, found {self.found}"
