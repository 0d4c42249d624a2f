"""Opening a store by URL, and which version of the schema it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError, SQLAlchemyError

from coordinator.ledger.tables import VERSION, metadata, runs

BUSY_TIMEOUT_MS = 30_000
VERSION_TABLE = "alembic_version"
UNVERSIONED = "0001"
"""Stores were not versioned yet when they had this one."""


class LedgerError(Exception):
    """The store cannot be reached or used; the message names it, without its password."""


def connect(url: str) -> Engine:
    """An engine for the store at *url* (``sqlite:///FILE`` or ``postgresql://...``) that has answered once.

    Raises:
        LedgerError: If there is no such store, or it does not answer.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise LedgerError(f"expected a store like sqlite:///FILE or postgresql://..., found {url!r}") from error
    shown = parsed.render_as_string(hide_password=True)
    kind = parsed.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise LedgerError(f"{shown}: expected a sqlite or postgresql store, found {kind}")
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    try:
        if kind == "sqlite" and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(parsed)
        if kind == "sqlite":
            event.listen(engine, "connect", _tune_sqlite)
        engine.connect().close()
    except ImportError as error:
        raise LedgerError(f"{shown}: no driver for PostgreSQL here; install skillmark[postgresql]") from error
    except (SQLAlchemyError, OSError) as error:
        raise LedgerError(f"{shown}: the store cannot be opened: {_reason(error)}") from error
    return engine


def prepare(engine: Engine) -> None:
    """Make the tables of a new store; of one that has them, check the version.

    Raises:
        LedgerError: If it is of another version.
    """
    shown = engine.url.render_as_string(hide_password=True)
    try:
        with engine.begin() as connection:
            found = version(connection)
            if found is None:
                metadata.create_all(connection)
                stamp(connection)
    except SQLAlchemyError as error:
        # Two that open a new store at the same time: the one that came second finds it made.
        with engine.connect() as connection:
            found = version(connection)
        if found is None:
            raise LedgerError(f"{shown}: the tables cannot be made: {_reason(error)}") from error
    if found in (None, VERSION):
        return
    if found > VERSION:
        raise LedgerError(f"{shown}: expected version {VERSION}, found {found}, of a newer skillmark; upgrade this one")
    raise LedgerError(
        f"{shown}: expected version {VERSION}, found {found}, of an older skillmark;"
        f" once nothing uses it, run: skillmark store upgrade --store {shown}"
    )


def name_failures(engine: Engine) -> None:
    """Let what the store itself fails at from now on, a full disk or a lost server, come up as `LedgerError`."""
    shown = engine.url.render_as_string(hide_password=True)

    def explain(context: ExceptionContext) -> LedgerError | None:
        error = context.sqlalchemy_exception
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        return LedgerError(
            f"{shown}: the store does not answer any more: {_reason(error)};"
            " once it does, `skillmark run list` names the run, and --resume goes on with it"
        )

    event.listen(engine, "handle_error", explain)


def version(connection: Connection) -> str | None:
    """The schema's version, None if there are no tables yet."""
    found = inspect(connection)
    if found.has_table(VERSION_TABLE):
        row = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).first()  # noqa: S608 - our own name
        if row is not None:
            return str(row[0])
    return UNVERSIONED if found.has_table(runs.name) else None


def stamp(connection: Connection, as_version: str = VERSION) -> None:
    """Note the schema's version where Alembic looks for it."""
    connection.execute(text(f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (version_num VARCHAR(32) PRIMARY KEY)"))
    connection.execute(text(f"DELETE FROM {VERSION_TABLE}"))  # noqa: S608 - our own name
    connection.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES (:version)"), {"version": as_version})  # noqa: S608


def _reason(error: Exception) -> str:
    """The driver's own words: SQLAlchemy's add the statement and a link to its manual."""
    return " ".join(str(getattr(error, "orig", None) or error).split())


def _tune_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    # WAL: readers (a report, an operator's query) never wait for the collector's transactions.
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.close()
