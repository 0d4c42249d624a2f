"""A skill that is a program: its access as something to start, with its secrets resolved."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from msgspec import Struct

from workers import secrets
from workers.adapters._target import options_of
from workers.faults import BadJob
from workers.sandbox import consent
from workers.sandbox.program import Program
from workers.wire.skill import SkillRef

WHERE = "program"
"""Stands for the host in ``--auth-env NAME@program``: what is granted so, programs get and no server does."""

REFERENCE = "env:"


class ProgramOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """*command* is run in *folder*; *variables* go into its environment: a text, or a secret as ``env:NAME``."""

    command: tuple[str, ...]
    folder: str
    variables: dict[str, str] = {}


class Secrets:
    """Takes out every secret that a program was given."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._redactors = [secrets.Redactor(value) for value in values.values()]

    def text(self, text: str) -> str:
        """*text* without them."""
        return reduce(lambda left, redactor: redactor.text(left), self._redactors, text)

    def body(self, body: bytes) -> bytes:
        """*body* without them."""
        return reduce(lambda left, redactor: redactor.body(left), self._redactors, body)


def program_of(skill: SkillRef) -> tuple[Program, Secrets]:
    """The program that *skill*'s access names.

    Raises:
        BadJob: If it may not be started, the options are not what is taken, or a secret is not to be had.
    """
    consent.check(skill)
    options = options_of(skill.access, ProgramOptions)
    return prepared(options.command, options.folder, options.variables)


def prepared(command: tuple[str, ...], folder: str, variables: Mapping[str, str]) -> tuple[Program, Secrets]:
    """The program that runs *command* in *folder* with *variables*, as in `ProgramOptions`.

    Raises:
        BadJob: If there is no command, or a secret is not to be had.
    """
    if not command:
        raise BadJob("the access names no program")
    hidden = {
        name: secrets.resolve(value, WHERE, 0) for name, value in variables.items() if value.startswith(REFERENCE)
    }
    return Program(argv=command, folder=folder, variables={**variables, **hidden}), Secrets(hidden)
