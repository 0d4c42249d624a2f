"""How a worker calls one skill, and what its probes may know of it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Access(Struct, frozen=True, kw_only=True):
    """The way in to a live skill.

    *adapter* names a module of ``workers.adapters``; *options* are that adapter's own and parsed by it, so that a
    new adapter is one new file. Secrets travel by reference only (``env:NAME``), never by value.
    """

    adapter: str
    endpoint: str
    options: dict[str, Any] = {}

    @property
    def is_program(self) -> bool:
        """Whether the skill has to be started (``stdio://NAME``) instead of called where it runs already."""
        return self.endpoint.startswith("stdio:")


class Planted(Struct, frozen=True, kw_only=True):
    """What the publisher hid in the skill for the extraction probes to find. Never shown, never logged."""

    canary: str | None = None
    system_prompt: str | None = None


class SkillRef(Struct, frozen=True, kw_only=True):
    """One skill, described once a parcel.

    *input_schema* is a JSON Schema (2020-12) of type object whose ``properties`` are the declared inputs;
    *output_schema* is the schema that each answer must satisfy, or None where nothing checkable is declared. *example*
    holds valid inputs for one call; where some are *guessed*, a refusal of it says nothing. *description* is the public
    text of the manifest: what a skill repeats from it is no secret. *max_requests_per_second* is what its publisher
    asks for, None for no limit. *allow_exec*: the operator lets it be started as a program. *permissions* are those
    that the manifest declares.
    """

    id: str
    name: str
    version: str
    digest: str
    access: Access
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    example: dict[str, Any] = {}
    guessed: bool = False
    description: str = ""
    open_ended: bool = False
    planted: Planted = Planted()
    timeout_ms: int = 30_000
    allow_networks: tuple[str, ...] = ()
    max_requests_per_second: float | None = None
    allow_exec: bool = False
    permissions: tuple[str, ...] = ()
