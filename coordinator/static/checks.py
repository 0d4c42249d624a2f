"""The static checks: the modules of this folder that have a ``PILLAR``; a new one is a new file."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Protocol, cast

from coordinator.catalog.skill import Skill
from coordinator.policy import StaticPolicy
from coordinator.static.evidence import Context, Examined, StaticEvidence, weigh
from workers.wire.job import Pillar


class Check(Protocol):
    """What a check's module offers."""

    PILLAR: Pillar

    def examine(self, skill: Skill, context: Context) -> Examined:
        """What the check makes of *skill*; the same skill and context give the same. No source makes it raise."""
        ...


@cache
def checks() -> dict[str, Check]:
    """The checks by the names of their modules, in alphabetical order."""
    package = importlib.import_module("coordinator.static")
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__) if not info.ispkg)
    modules = {name: importlib.import_module(f"{package.__name__}.{name}") for name in names}
    return {name: cast(Check, module) for name, module in modules.items() if isinstance(_pillar(module), Pillar)}


def examine(skill: Skill, context: Context) -> dict[str, Examined]:
    """What every check makes of *skill*, by the check's name."""
    return {name: check.examine(skill, context) for name, check in checks().items()}


def weighed(examined: dict[str, Examined], policy: StaticPolicy) -> dict[Pillar, StaticEvidence]:
    """The static evidence of each pillar that has any."""
    found = {}
    for pillar in Pillar:
        of_pillar = {name: one for name, one in examined.items() if checks()[name].PILLAR is pillar}
        if (evidence := weigh(of_pillar, policy)) is not None:
            found[pillar] = evidence
    return found


def _pillar(module: object) -> object:
    return getattr(module, "PILLAR", None)
