"""The few kinds of expression that facts hang on, the same for every language, and a file as far as it matters.

A language's reader (`python`, `javascript`) makes these; what they come to is worked out once, in `resolving`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coordinator.source.facts import Import, InputRead

MAX_DEPTH = 40  # of one expression; what lies deeper is `UNKNOWN` where it is a part, and looked at for itself


@dataclass(frozen=True, eq=False)
class Name:
    """A name, looked up in *scope*."""

    name: str
    scope: Scope


@dataclass(frozen=True, eq=False)
class Member:
    """``of.name`` or ``of[name]``; *index* is the name where it is not written out."""

    of: Expression
    name: str = ""
    index: Expression | None = None


@dataclass(frozen=True, eq=False)
class Call:
    """A call, or a ``new``."""

    of: Expression
    arguments: tuple[Expression, ...] = ()
    named: dict[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Text:
    """A text that is written out."""

    text: str


@dataclass(frozen=True, eq=False)
class Joined:
    """Texts one after the other, *mark* between them; how a path or an address is put together."""

    parts: tuple[Expression, ...]
    mark: str = ""


@dataclass(frozen=True, eq=False)
class Either:
    """One of several."""

    of: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Items:
    """A list or an object that is written out; *named* are the members of an object."""

    of: tuple[Expression, ...] = ()
    named: dict[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Element:
    """One of the items of *of*."""

    of: Expression


@dataclass(frozen=True, eq=False)
class Imported:
    """A module, or a part of one, by its full dotted name."""

    name: str


@dataclass(frozen=True, eq=False)
class Function:
    """A function of this file. *handles*: it is registered to be called from outside, with a caller's inputs."""

    line: int
    parameters: tuple[str, ...] = ()
    defaults: dict[str, Expression] = field(default_factory=dict)
    handles: bool = False
    method: bool = False


@dataclass(frozen=True, eq=False)
class Parameter:
    """What *function* is given under *name*."""

    function: Function
    name: str


@dataclass(frozen=True, eq=False)
class Unknown:
    """Anything else."""


UNKNOWN = Unknown()

Expression = Name | Member | Call | Text | Joined | Either | Items | Element | Imported | Function | Parameter | Unknown


@dataclass(eq=False)
class Scope:
    """The names of one function, class or file; a class's are not seen by the functions in it."""

    parent: Scope | None = None
    is_class: bool = False
    function: Function | None = None
    names: dict[str, list[Expression]] = field(default_factory=dict)

    def bind(self, name: str, value: Expression) -> None:
        """*name* may mean *value* from now on; what it meant stays possible."""
        self.names.setdefault(name, []).append(value)

    def meanings(self, name: str) -> list[Expression] | None:
        """What *name* may mean here; None where nothing in the file gives it a meaning."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not scope.is_class):
                return scope.names[name]
            scope = scope.parent
        return None

    def functions(self) -> Iterator[Function]:
        """The functions around this place, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            if scope.function is not None:
                yield scope.function
            scope = scope.parent


@dataclass(frozen=True, eq=False)
class Site:
    """A place where something is called, or named without being called."""

    expression: Expression
    line: int
    scope: Scope


@dataclass(eq=False)
class Program:
    """One file.

    *attributes* are what the members of its own objects (``self.x``) may be; *stars* are modules all of whose names it
    took; *reads* are the inputs that its types declare.
    """

    sites: list[Site] = field(default_factory=list)
    attributes: dict[str, list[Expression]] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    reads: list[InputRead] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
