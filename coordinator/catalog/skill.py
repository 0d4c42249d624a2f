"""One skill of a catalog, whatever format described it."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from workers.wire.skill import Access, Planted


class Parameter(Struct, frozen=True, kw_only=True):
    """One declared input or output; *schema* is its JSON Schema (2020-12), ``{}`` where no type is declared.

    *assumed*: the manifest gives the name alone, and that it is required and of which type is our assumption.
    """

    name: str
    schema: dict[str, Any] = {}
    description: str = ""
    required: bool = True
    example: Any | UnsetType = UNSET
    assumed: bool = False


class FailureMode(Struct, frozen=True, kw_only=True):
    """A declared way to fail; *behaviour* is empty in the published shape that lists conditions only."""

    condition: str
    behaviour: str = ""


class TestCase(Struct, frozen=True, kw_only=True):
    """The author's own test: *input* must be answered with *expected*."""

    __test__ = False  # pytest would collect it for its name

    name: str
    input: dict[str, Any]
    expected: Any


class Skill(Struct, frozen=True, kw_only=True):
    """A skill to certify.

    *source* is the file it came from and *pointer* the JSON pointer inside it (empty for a file of its own). *digest*
    is ``sha256:`` over the canonical JSON (RFC 8785) of the manifest as given. *access* is None where the skill has no
    live endpoint. *guessed*: some value in *example* is ours and not the manifest's. *format* is the name of the module
    of ``coordinator.catalog`` that read it; *stated* are the members that the manifest has, which tells an empty list
    of permissions from none. *instructions* is the text that an agent loads to use the skill, where it is made of such
    a text.
    """

    id: str
    name: str
    version: str
    digest: str
    format: str
    source: str
    pointer: str = ""
    description: str = ""
    platform: str = ""
    category: str = ""
    author: str = ""
    author_email: str = ""
    scope: str = ""
    data_handling: str = ""
    inputs: tuple[Parameter, ...] = ()
    outputs: tuple[Parameter, ...] = ()
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    example: dict[str, Any] = {}
    guessed: bool = False
    failure_modes: tuple[FailureMode, ...] = ()
    dependencies: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    access: Access | None = None
    timeout_ms: int | None = None
    max_requests_per_second: float | None = None
    test_cases: tuple[TestCase, ...] = ()
    planted: Planted = Planted()
    open_ended: bool = False
    source_path: str | None = None
    source_url: str | None = None
    tags: tuple[str, ...] = ()
    license: str = ""
    homepage: str = ""
    instructions: str = ""
    stated: tuple[str, ...] = ()


class Rejection(Struct, frozen=True, kw_only=True):
    """A catalog entry that cannot be certified, and why: where, what was expected, what was found."""

    source: str
    pointer: str
    expected: str
    found: str

    def __str__(self) -> str:
        """One line: file, pointer, expected, found."""
        where = f"{self.source}#{self.pointer}" if self.pointer else self.source
        return f"{where}: expected {self.expected}, found {self.found}"


Entry = Skill | Rejection
