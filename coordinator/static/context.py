"""Opening what the static checks may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec import UNSET, UnsetType

from coordinator.osv.advisories import Advisories
from coordinator.policy import Policy
from coordinator.static.evidence import Context


def advisories_digest(database: Path) -> str | UnsetType:
    """The digest of the *database* of known vulnerabilities; unset where there is none.

    Raises:
        AdvisoriesError: If it is something else.
    """
    if not database.exists():
        return UNSET
    advisories = Advisories.open(database)
    try:
        return advisories.digest
    finally:
        advisories.close()


@contextmanager
def static_context(catalog: Path, policy: Policy, database: Path, now: datetime | None = None) -> Iterator[Context]:
    """What the checks of *catalog*'s skills may use; the *database* is open as long as this is.

    Raises:
        AdvisoriesError: If the database is something else. That there is none is no error: the context says so.
    """
    folder = catalog if catalog.is_dir() else catalog.parent
    now = now or datetime.now(UTC)
    if not database.exists():
        reason = f"there is no database of known vulnerabilities at {database}; `skillmark osv update` makes one"
        yield Context(policy=policy, folder=folder, advisories=reason, now=now)
        return
    advisories = Advisories.open(database)
    try:
        yield Context(policy=policy, folder=folder, advisories=advisories, now=now)
    finally:
        advisories.close()
