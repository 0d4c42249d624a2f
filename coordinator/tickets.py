"""A run's ticket: its id, new or of a run that goes on.

The ids of jobs derive from the run's, so a run that goes on asks for the same jobs under the same ids, and what the
ledger has of them need not be asked again. That holds while everything that decides the plan is the same; hence the
stamps. (Not taken: to go on with whatever catalog there is now. Half of such a report would be about another catalog.)
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from coordinator.catalog.files import opened, shown_path
from coordinator.catalog.folder import Found
from coordinator.catalog.index import Unread
from coordinator.catalog.rejection import Rejected
from coordinator.catalog.skill import Entry, Rejection
from coordinator.ledger.ledger import Ledger
from coordinator.settings import SettingsError

log = structlog.get_logger(__name__)


class Ticket(Struct, frozen=True, kw_only=True):
    """The id of a run, and whether it was begun before."""

    run_id: str
    resumed: bool


def new_run_id() -> str:
    """An id that sorts by time and that no skill can guess: the canaries derive from it."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(8)}"


def begin(ledger: Ledger, resume: str, *, mode: str, catalog: str, stamps: Mapping[str, Any]) -> Ticket:
    """A ticket for a new run or, where *resume* is the id of one, for that.

    Raises:
        SettingsError: If there is no such run, it has ended, or it was begun with other *stamps*.
        LedgerError: If the store cannot be reached.
    """
    if not resume:
        ticket = Ticket(run_id=new_run_id(), resumed=False)
        ledger.begin(ticket.run_id, mode=mode, catalog=catalog, stamps=dict(stamps))
        return ticket
    found = ledger.state(resume)
    if found is None:
        raise SettingsError(
            f"resume: expected a run that this store knows, found {resume[:100]!r}; `skillmark run list` tells which, "
            "and --store names another store"
        )
    state, begun = found
    if state == "ended":
        raise SettingsError(
            f"resume: expected a run that was cut short, found {resume}, which has ended; "
            "`skillmark run export` writes its reports again"
        )
    now = msgspec.to_builtins(stamps)
    other = sorted(name for name in {*begun, *now} if begun.get(name) != now.get(name))
    if other:
        told = "; ".join(f"{name} was {_shown(begun.get(name))} and is {_shown(now.get(name))}" for name in other)
        raise SettingsError(f"resume: expected the {', '.join(other)} that {resume} was begun with: {told}")
    if state == "running":
        log.warning("the run was not closed: make sure that no other process is still at it", run=resume)
    ledger.resume(resume)
    return Ticket(run_id=resume, resumed=True)


def catalog_digest(entries: Iterable[Entry]) -> str:
    """``sha256:`` over everything in a catalog that decides the plan, in its order; reads it once, keeps nothing."""
    hashed = hashlib.sha256()
    for entry in entries:
        if isinstance(entry, Rejection):
            hashed.update(f"rejected\0{entry.pointer}\0{entry.expected}\0{entry.found}\n".encode(errors="replace"))
        else:
            # The way in may be written beside the manifest, which the skill's own digest is over.
            access = msgspec.json.encode(entry.access, order="sorted")
            hashed.update(f"{entry.digest}\0".encode() + access + b"\n")
    return f"sha256:{hashed.hexdigest()}"


def files_digest(found: Iterable[Unread]) -> str:
    """``sha256:`` over the files of a catalog as they are written: what decides a run that calls nobody."""
    hashed, last = hashlib.sha256(), None
    for one in found:
        if isinstance(one.item, Rejection):
            hashed.update(f"rejected\0{one.item}\n".encode(errors="replace"))
        elif one.path != last:
            last = one.path
            hashed.update(f"{shown_path(one.path)}\0".encode())
            try:
                with opened(one.path, follow=not isinstance(one.item, Found)) as file:
                    while data := file.read(1 << 20):
                        hashed.update(data)
            except (Rejected, OSError) as error:
                hashed.update(str(error).encode(errors="replace"))
    return f"sha256:{hashed.hexdigest()}"


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()[:200]
