"""A store of an older version -> the version of now, by the steps in `migrations`, all in one transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext, MigrationStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from coordinator.ledger.store import LedgerError, stamp, version
from coordinator.ledger.tables import VERSION, metadata

FOLDER = Path(__file__).parent / "migrations"


def upgrade(engine: Engine) -> tuple[str | None, str]:
    """Bring the store to the newest version; a new one gets its tables. Returns the versions before and after.

    Raises:
        LedgerError: If the store is of a newer skillmark than this one.
    """
    with engine.begin() as connection:
        before = version(connection)
        if before is None:
            metadata.create_all(connection)
            stamp(connection)
        elif before > VERSION:
            shown = engine.url.render_as_string(hide_password=True)
            raise LedgerError(f"{shown}: expected version {VERSION} or older, found {before}, of a newer skillmark")
        else:
            stamp(connection, before)
            migrate(connection, VERSION)
    return before, VERSION


def migrate(connection: Connection, to: str) -> None:
    """Apply the steps from the connection's version up to *to*."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    script = ScriptDirectory(str(FOLDER))

    def steps(revision: Any, _: MigrationContext) -> list[MigrationStep]:
        return list(script._upgrade_revs(to, revision))

    # Not alembic.command: it would read its connection out of an ini file and set up logging of its own.
    with EnvironmentContext(config, script, fn=steps, destination_rev=to) as environment:
        environment.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
        environment.run_migrations()
