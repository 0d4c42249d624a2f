"""Live mode: the static checks beside the run, in a process of their own, as static mode makes them (`examining`).

A hostile lock file takes its parsers seconds, and they hold the interpreter's lock: on the loop nobody would be called
meanwhile, and in a thread hardly anybody. A skill of few words without a source is quickly done, and examined where its
verdict is made; a catalog of such never starts the process.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import msgspec
import structlog

from coordinator.catalog.skill import Skill
from coordinator.examining import ENDED, Terms, examine_here, ready, started
from coordinator.static.checks import checks
from coordinator.static.evidence import Examined, Unchecked

QUICK_BYTES = 64 << 10  # of a manifest
QUICK_DEPENDENCIES = 50

log = structlog.get_logger(__name__)


class Examinations:
    """Skills that are examined elsewhere, one after the other; to be closed. For one event loop."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._pool: ProcessPoolExecutor | None = None
        self._alone = asyncio.Lock()
        self._begun: dict[str, asyncio.Task[dict[str, Examined]]] = {}

    def begin(self, skill: Skill) -> None:
        """Begin to examine *skill*, unless it is quickly done."""
        if not _is_quick(skill):
            self._begun[skill.digest] = asyncio.ensure_future(self._examined(skill))

    def end(self, skill: Skill) -> asyncio.Future[None] | None:
        """When *skill* has been examined; None where it has, or was not begun."""
        task = self._begun.get(skill.digest)
        return None if task is None or task.done() else asyncio.ensure_future(_ended(task))

    def taken(self, skill: Skill) -> dict[str, Examined] | None:
        """What the checks made of *skill*, which is forgotten here; None where it was not begun."""
        task = self._begun.pop(skill.digest, None)
        return None if task is None else task.result()

    def close(self) -> None:
        """Drop what has not begun, and wait for the rest."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    async def _examined(self, skill: Skill) -> dict[str, Examined]:
        if self._pool is None:
            self._pool = started(self._terms, 1, ready)
        pool = self._pool
        try:
            return await asyncio.wrap_future(pool.submit(examine_here, skill))
        except BrokenProcessPool:
            log.warning("the process that examines manifests ended unexpectedly; its work is done again")
        if self._pool is pool:
            self._pool = None
        async with self._alone:
            pool = started(self._terms, 1, ready)
            try:
                return await asyncio.wrap_future(pool.submit(examine_here, skill))
            except BrokenProcessPool:
                return dict.fromkeys(checks(), Unchecked(ENDED))
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


async def _ended(task: asyncio.Task[dict[str, Examined]]) -> None:
    await asyncio.wait({task})


def _is_quick(skill: Skill) -> bool:
    if skill.source_path is not None or len(skill.dependencies) > QUICK_DEPENDENCIES:
        return False
    return len(msgspec.json.encode(skill)) <= QUICK_BYTES
