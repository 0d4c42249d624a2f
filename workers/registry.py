"""Which parts exist: each folder of parts is its own list, so adding a part is adding a file.

One of the two doors through which the coordinator may look into `workers` (the other is `workers.wire`).
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from workers.faults import BadExpectation, BadJob
from workers.wire.job import Expectation, SecurityJob
from workers.wire.result import Verdict
from workers.wire.skill import SkillRef

FOLDERS = ("adapters", "evaluators", "detectors")


@cache
def parts(folder: str) -> dict[str, str]:
    """The parts of *folder* (``adapters``, ``evaluators`` or ``detectors``): name or alias to module name.

    A part's name is its file's name; a module may add ``ALIASES``. Names with a leading underscore are not parts.
    """
    package = importlib.import_module(f"workers.{folder}")
    found: dict[str, str] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if info.name.startswith("_"):
            continue
        module = f"{package.__name__}.{info.name}"
        for name in (info.name, *getattr(importlib.import_module(module), "ALIASES", ())):
            found[name] = module
    return found


def names(folder: str) -> tuple[str, ...]:
    """Every name and alias under which *folder* has a part, sorted."""
    return tuple(sorted(parts(folder)))


def part(folder: str, name: str) -> ModuleType:
    """The module of the part *name*.

    Raises:
        BadJob: If there is none; the message lists those that exist.
    """
    module = parts(folder).get(name)
    if module is None:
        raise BadJob(f"no {folder[:-1]} called {name!r}; there are: {', '.join(names(folder))}")
    return importlib.import_module(module)


def check(expectation: Expectation) -> None:
    """Make sure that *expectation* can be held against an answer, before any traffic.

    Raises:
        BadExpectation: If there is no such evaluator, or it cannot work with what is expected.
    """
    if expectation.evaluator not in parts("evaluators"):
        known = f"one of {', '.join(names('evaluators'))}"
        raise BadExpectation("/evaluator", known, repr(expectation.evaluator))
    part("evaluators", expectation.evaluator).prepare(expectation.expected, expectation.options)


def lacks(evaluator: str) -> str:
    """The environment variable without which *evaluator* cannot evaluate in this process; empty if there is none."""
    needs = getattr(part("evaluators", evaluator), "lacks", None)
    missing: str = needs() if needs else ""
    return missing


async def rejudge(job: SecurityJob, skill: SkillRef, kept: Verdict) -> Verdict:
    """What today's detectors make of the answers kept with *kept*; nothing is sent.

    Raises:
        BadJob: If the attack cannot be run here.
    """
    # Found when asked for, as parts are: the procedure itself looks up its detectors here.
    verdict: Verdict = await importlib.import_module("workers.rejudging").rejudge(job, skill, kept)
    return verdict
