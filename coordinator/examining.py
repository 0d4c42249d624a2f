"""Static mode: every entry of a catalog examined, in all cores, and entered in the catalog's order.

Nobody is called, so there is nothing to schedule: chunks of entries go through a pool of processes, a bounded number at
a time, and memory holds those and nothing else. A catalog of few entries is examined right here; starting processes
would take longer. A process that ends unexpectedly is our fault: its chunk is examined again, alone and then entry by
entry, and what ends the process again gets a record that says so and judges nothing. (Not taken: threads. The work is
Python and schemas, and holds the interpreter's lock.)
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from datetime import datetime
from itertools import chain, islice
from multiprocessing import connection
from pathlib import Path
from types import TracebackType

import structlog
from msgspec import Struct

from coordinator.catalog import index
from coordinator.catalog.files import shown_path
from coordinator.catalog.folder import Found
from coordinator.catalog.index import Unread
from coordinator.catalog.skill import Rejection, Skill
from coordinator.certification import Certification
from coordinator.interrupts import Interrupts
from coordinator.ledger.ledger import Ledger
from coordinator.policy import Policy
from coordinator.record import Header, located
from coordinator.run import PLACES, Concluded, Watcher
from coordinator.static.context import static_context
from coordinator.static.evidence import Examined
from coordinator.tickets import Ticket

CHUNK = 32
HERE = 2 * CHUNK
"""Catalogs of up to so many files and listed manifests are examined in this process."""

ENDED = "skillmark's own process ended while it examined this, twice; nothing is said of the skill"

log = structlog.get_logger(__name__)


class Terms(Struct, frozen=True, kw_only=True):
    """What all entries are examined by; it travels to each process."""

    header: Header
    catalog: Path
    policy: Policy
    database: Path
    now: datetime


class Examination(Struct, frozen=True):
    """What was made of one entry; *skill* is its id, version, source and pointer, None of a rejected one."""

    concluded: Concluded
    skill: tuple[str, str, str, str] | None = None


def examine_catalog(ticket: Ticket, terms: Terms, ledger: Ledger, watchers: Sequence[Watcher] = ()) -> bool:
    """Examine every entry; whether it was cut short by SIGINT or SIGTERM. The ledger knows it afterwards.

    Raises:
        CatalogError: If there is no manifest at all.
        LedgerError: If the store cannot be reached.
    """
    interrupted = True
    try:
        with Interrupts() as interrupts, ExitStack() as stack:
            certification = _certification(terms, stack)
            once, place = index.Once(), 0
            for chunk in _examinations(terms, certification):
                rows = []
                for one in chunk:
                    again = once.again(*one.skill) if one.skill else None
                    concluded = certification.reject(again) if again else one.concluded
                    rows.append((place * PLACES, concluded))
                    place += 1
                with interrupts.held():
                    ledger.enter(ticket.run_id, [(at, c.skill_id, c.verdict, c.overall, c.line) for at, c in rows])
                for _, concluded in rows:
                    for watcher in watchers:
                        watcher.concluded(concluded)
            if not place:
                raise index.no_manifest(terms.catalog)
        interrupted = False
    except KeyboardInterrupt:
        log.warning("interrupted", run=ticket.run_id, resume=f"--resume {ticket.run_id}")
    finally:
        ledger.end(ticket.run_id, state="interrupted" if interrupted else "ended")
    return interrupted


def _examinations(terms: Terms, certification: Certification) -> Iterator[list[Examination]]:
    found = index.unread(terms.catalog)
    first = list(islice(found, HERE + 1))
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(first) <= HERE:
        yield [one for item in first for one in _examined(item, certification)]
        return
    with Examiners(terms, processes) as examiners:
        for chunk, examinations in examiners.examined(_chunks(chain(first, found))):
            if examinations is None:
                examinations = [Examination(certification.unexamined(_place(item), ENDED)) for item in chunk]
            yield examinations


class Examiners:
    """Processes that examine, each made ready by *set_up*; to be used as a context."""

    def __init__(self, terms: Terms, processes: int, set_up: Callable[[Terms], None] | None = None) -> None:
        self._terms = terms
        self._set_up = set_up or ready
        self._processes = processes
        self._pool = self._started(processes)
        self._pending: deque[tuple[list[Unread], Future[list[Examination]]]] = deque()

    def __enter__(self) -> Examiners:
        """The processes start with the first chunk."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Drop what has not begun, and wait for the rest."""
        self._pool.shutdown(cancel_futures=True)

    def examined(self, chunks: Iterable[list[Unread]]) -> Iterator[tuple[list[Unread], list[Examination] | None]]:
        """Each of *chunks* with what was made of it, in their order; None where that ended a process twice."""
        for chunk in chunks:
            self._submit(chunk)
            if len(self._pending) > 2 * self._processes:
                yield from self._first()
        while self._pending:
            yield from self._first()

    def _submit(self, chunk: list[Unread]) -> None:
        try:
            future = self._pool.submit(_examine, chunk)
        except BrokenProcessPool as broken:
            future = Future()
            future.set_exception(broken)
        self._pending.append((chunk, future))

    def _first(self) -> Iterator[tuple[list[Unread], list[Examination] | None]]:
        chunk, future = self._pending.popleft()
        try:
            yield chunk, future.result()
        except BrokenProcessPool:
            log.warning("a process that examines manifests ended unexpectedly; its work is done again")
            self._pool.shutdown(cancel_futures=True)
            yield from self._alone(chunk)
            self._pool = self._started(self._processes)
            waiting = [one for one, _ in self._pending]
            self._pending.clear()
            for one in waiting:
                self._submit(one)

    def _alone(self, chunk: list[Unread]) -> Iterator[tuple[list[Unread], list[Examination] | None]]:
        """*chunk* in a process of its own and, where that ends too, each of its entries."""
        pool = self._started(1)
        try:
            yield chunk, pool.submit(_examine, chunk).result()
        except BrokenProcessPool:
            if len(chunk) == 1:
                yield chunk, None
            else:
                for one in chunk:
                    yield from self._alone([one])
        finally:
            pool.shutdown(cancel_futures=True)

    def _started(self, processes: int) -> ProcessPoolExecutor:
        return started(self._terms, processes, self._set_up)


def started(terms: Terms, processes: int, set_up: Callable[[Terms], None]) -> ProcessPoolExecutor:
    """Processes that examine by *terms*, each made ready by *set_up*."""
    return ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=set_up, initargs=(terms,)
    )


_certified_by: list[Certification] = []  # of an examining process, which has one for its whole life


def ready(terms: Terms) -> None:
    """What an examining process does first. Its parent alone hears of SIGINT, and it ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    stack = ExitStack()
    atexit.register(stack.close)  # what it opened would else be closed as soon as nobody knows the stack
    _certified_by.append(_certification(terms, stack))


def _end_with(parent: int) -> None:
    connection.wait([parent])
    os._exit(1)


def examine_here(skill: Skill) -> dict[str, Examined]:
    """What the checks make of *skill*, in an examining process."""
    return _certified_by[0].examine(skill)


def _examine(chunk: list[Unread]) -> list[Examination]:
    return [one for item in chunk for one in _examined(item, _certified_by[0])]


def _examined(item: Unread, certification: Certification) -> Iterator[Examination]:
    for entry in index.read(item):
        if isinstance(entry, Rejection):
            yield Examination(certification.reject(entry))
        else:
            where = (entry.id, entry.version, entry.source, entry.pointer)
            yield Examination(certification.uncalled(entry), where)


def _certification(terms: Terms, stack: ExitStack) -> Certification:
    context = stack.enter_context(static_context(terms.catalog, terms.policy, terms.database, terms.now))
    return Certification(terms.header, None, context)


def _chunks(found: Iterator[Unread]) -> Iterator[list[Unread]]:
    while chunk := list(islice(found, CHUNK)):
        yield chunk


def _place(one: Unread) -> str:
    """Where *one* stands."""
    if isinstance(one.item, Rejection):
        return located(one.item)
    if isinstance(one.item, Found):
        return shown_path(one.path)
    return f"{one.item.source}#{one.item.pointer}" if one.item.pointer else one.item.source
