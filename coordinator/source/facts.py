"""What one file of a source does: the facts that are compared with the manifest."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """What is reached for; the words in which permissions and uses are compared."""

    NETWORK = "network"
    READ = "read"
    WRITE = "write"
    PROCESS = "process"
    ENVIRONMENT = "environment"
    DYNAMIC = "dynamic"


class Origin(StrEnum):
    """Where the target of a use comes from.

    *LITERAL* stands in the source, *OWN* is beside the code or in a temporary folder, *INPUT* is what a caller sent,
    *COMPUTED* cannot be told.
    """

    LITERAL = "literal"
    OWN = "own"
    INPUT = "input"
    COMPUTED = "computed"


class Use(Struct, frozen=True):
    """One use: *via* is the name of what is called, *target* the host, path or variable as far as it is known."""

    kind: Kind
    line: int
    via: str
    target: str = ""
    origin: Origin = Origin.COMPUTED


class Import(Struct, frozen=True):
    """One import, *module* as written, relative ones with their dots. *optional*: the code copes without it."""

    module: str
    line: int
    optional: bool = False


class InputRead(Struct, frozen=True):
    """One member of what a caller sent, read by its *name* in the function that starts at line *function*."""

    name: str
    line: int
    function: int


class FileFacts(Struct, frozen=True, kw_only=True):
    """Of one file. *words* are its names and texts, folded (`folded`); *cut* says what was left out, if anything."""

    uses: tuple[Use, ...] = ()
    imports: tuple[Import, ...] = ()
    reads: tuple[InputRead, ...] = ()
    words: frozenset[str] = frozenset()
    cut: str = ""


def folded(name: str) -> str:
    """*name* without case, hyphens and underscores: what `maxItems`, `max_items` and `max-items` have in common."""
    return "".join(character for character in name.lower() if character.isalnum())


def module_name(name: str) -> str:
    """The dotted name of the module that is imported as *name*: ``node:fs/promises`` is ``fs.promises``."""
    name = name.removeprefix("node:")
    return "fs.promises" if name == "fs/promises" else name
