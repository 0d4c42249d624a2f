"""One probe of the attack corpus, the corpus as a whole, and what is wrong with one that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct


class CorpusError(Exception):
    """A corpus that cannot be used: which *file*, the JSON *pointer* in it, what was *expected* and *found*."""

    def __init__(self, file: Path, pointer: str, expected: str, found: str) -> None:
        super().__init__(f"{file}{'#' + pointer if pointer else ''}: expected {expected}, found {found}")
        self.file = file
        self.pointer = pointer
        self.expected = expected
        self.found = found


class Confirm(Struct, frozen=True, kw_only=True):
    """How often a hit is replayed with fresh canaries, and how many replays must hit again."""

    replays: int = 2
    need: int = 2


class Payload(Struct, frozen=True, kw_only=True):
    """One probe. *detector* and *carriers* name parts of the workers; all texts are templates.

    *witness* is what only an obeying skill can produce, empty where the detector has evidence of its own. *controls*
    are what is asked after a hit, to tell obedience from capability. *pieces* are named parts of the other texts. A
    *stateful* probe may change what the skill says to others and is run alone.
    """

    id: str
    rev: int
    category: str
    severity: str
    title: str
    refs: dict[str, tuple[str, ...]]
    detector: str
    fits: tuple[str, ...]
    carriers: tuple[str, ...]
    template: str
    pieces: dict[str, str] = {}
    witness: str = ""
    controls: dict[str, str] = {}
    options: dict[str, Any] = {}
    confirm: Confirm = Confirm()
    stateful: bool = False


class Corpus(Struct, frozen=True, kw_only=True):
    """All probes, sorted by id. *digest* is ``sha256:`` over the canonical JSON (RFC 8785) of every file."""

    version: str
    digest: str
    taxonomies: dict[str, str]
    payloads: tuple[Payload, ...]
