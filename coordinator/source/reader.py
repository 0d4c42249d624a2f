"""What the readers of all languages have in common: the walk through a tree, and the expressions made of its nodes.

A node's expression is made once for a scope and shared by all that it is a part of: of calls within calls, each would
else be made again for every call around it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from coordinator.source.expressions import MAX_DEPTH, UNKNOWN, Expression, Program, Scope, Site
from coordinator.source.facts import folded

WORD_CHARS = 100

N = TypeVar("N")


class Reader(ABC, Generic[N]):
    """Reads the tree under *root*, of nodes *N*, into its *program*; without recursion, however deep it is."""

    def __init__(self, root: N) -> None:
        self.program = Program()
        self.bases: set[int] = set()  # what only leads to a member: ``os`` of ``os.system``
        self._made: dict[tuple[int, int], tuple[Scope, Expression]] = {}
        self._cut = 0
        self._waiting: list[tuple[N, Scope, bool]] = [(root, Scope(), False)]
        while self._waiting:
            self.visit(*self._waiting.pop())

    @abstractmethod
    def visit(self, node: N, scope: Scope, optional: bool) -> None:
        """Note what *node* does and means in *scope*; *optional*: the code copes where it fails."""

    @abstractmethod
    def identity(self, node: N) -> int:
        """What tells *node* from all others of the tree."""

    @abstractmethod
    def make(self, node: N, scope: Scope, depth: int) -> Expression:
        """The expression of *node*, its parts by `expression`, each one deeper than *depth*."""

    def later(self, nodes: Iterable[N], scope: Scope, optional: bool) -> None:
        """Visit *nodes* next, in their order."""
        self._waiting.extend((node, scope, optional) for node in reversed(list(nodes)))

    def expression(self, node: N | None, scope: Scope, depth: int = 0) -> Expression:
        """The expression of *node* in *scope*; what lies too deep in another is unknown there."""
        if node is None:
            return UNKNOWN
        key = (self.identity(node), id(scope))
        if (known := self._made.get(key)) is not None:
            return known[1]
        if depth > MAX_DEPTH:
            self._cut += 1
            return UNKNOWN
        cut = self._cut
        made = self.make(node, scope, depth)
        if cut == self._cut:  # nothing of it was left out
            self._made[key] = (scope, made)  # with the scope, whose id is nobody else's as long as it lives
        return made

    def site(self, expression: Expression, line: int, scope: Scope) -> None:
        """Note that *expression* is called or named on *line*."""
        self.program.sites.append(Site(expression, line, scope))

    def word(self, text: str) -> None:
        """Note that *text* is among the names and texts of the file."""
        if text and len(text) <= WORD_CHARS:
            self.program.words.add(folded(text))

    def member(self, name: str, value: Expression) -> None:
        """Note that the member *name* of an object of the file may be *value*."""
        self.program.attributes.setdefault(name, []).append(value)
