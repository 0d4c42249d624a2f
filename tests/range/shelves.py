"""All skills of the range: the modules of ``harmless``, ``guilty`` and ``beyond``, each a family."""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.range.skill import RangeSkill


def harmless() -> tuple[RangeSkill, ...]:
    """The skills that look guilty and are not."""
    return _shelf("harmless")


def guilty() -> tuple[RangeSkill, ...]:
    """The skills that have holes."""
    return _shelf("guilty")


def beyond() -> tuple[RangeSkill, ...]:
    """The skills whose holes no attack reached when they were written."""
    return _shelf("beyond")


def _shelf(name: str) -> tuple[RangeSkill, ...]:
    families = sorted((Path(__file__).parent / name).glob("[a-z]*.py"))
    return tuple(
        skill for family in families for skill in importlib.import_module(f"tests.range.{name}.{family.stem}").SKILLS
    )
