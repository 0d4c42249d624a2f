from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from click.testing import CliRunner
from sqlalchemy import text

from coordinator.cli import skillmark
from coordinator.ledger import store
from coordinator.ledger.ledger import Ledger
from coordinator.ledger.store import LedgerError
from coordinator.ledger.tables import VERSION, metadata
from coordinator.ledger.upgrade import FOLDER, migrate, upgrade
from tests.coordinator.evidence import judged, task
from workers.wire.result import Outcome


def older(url: str) -> None:
    """Make the store that the first release made, with one result in it."""
    engine = store.connect(url)
    with engine.begin() as connection:
        migrate(connection, "0001")
        connection.execute(text("DROP TABLE alembic_version"))
        connection.execute(
            text("INSERT INTO runs VALUES ('run', '2026', NULL, 'ended', 'live', 'catalog', :none)"), {"none": b"{}"}
        )
        connection.execute(
            text("INSERT INTO results VALUES ('a', 'run', 'digest', 'functional', 'a', :judged, :body)"),
            {"judged": True, "body": b""},
        )
    engine.dispose()


def test_the_steps_lead_to_the_tables(store_url: str) -> None:
    """What the migrations make, one after the other, is what the code declares, and the newest is the version."""
    engine = store.connect(store_url)

    with engine.begin() as connection:
        migrate(connection, "head")
        found = store.version(connection)
        differences = compare_metadata(MigrationContext.configure(connection), metadata)

    engine.dispose()
    assert differences == []
    assert found == VERSION == ScriptDirectory(str(FOLDER)).get_current_head()


def test_a_new_store_has_the_newest_version(store_url: str) -> None:
    """Opening makes the tables; opening again finds them."""
    Ledger.open(store_url).close()
    Ledger.open(store_url).close()

    engine = store.connect(store_url)
    with engine.connect() as connection:
        assert store.version(connection) == VERSION
    engine.dispose()


def test_an_older_store_is_refused_until_it_is_upgraded(store_url: str) -> None:
    """The error says which command to run; after it nothing is lost."""
    older(store_url)

    with pytest.raises(LedgerError, match="run: skillmark store upgrade"):
        Ledger.open(store_url)
    told = CliRunner().invoke(skillmark, ["store", "upgrade", "--store", store_url])
    ledger = Ledger.open(store_url)

    assert told.exit_code == 0
    assert f"version 0001 -> {VERSION}" in told.output
    assert ledger.summary("run") is not None
    ledger.record([judged(task("b"), Outcome.PASS, 1.0)])
    engine = store.connect(store_url)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT job_id FROM results ORDER BY job_id")).scalars().all() == ["a", "b"]
    engine.dispose()
    ledger.close()


def test_an_upgraded_store_is_left_alone(store_url: str) -> None:
    """A second upgrade changes nothing and says so."""
    Ledger.open(store_url).close()

    told = CliRunner().invoke(skillmark, ["store", "upgrade", "--store", store_url])

    assert told.exit_code == 0
    assert f"version {VERSION} already" in told.output


def test_a_store_of_a_newer_version_is_refused(store_url: str) -> None:
    """Neither opening nor upgrading touches what a newer skillmark made."""
    engine = store.connect(store_url)
    with engine.begin() as connection:
        metadata.create_all(connection)
        store.stamp(connection, "9999")

    with pytest.raises(LedgerError, match="of a newer skillmark"):
        Ledger.open(store_url)
    with pytest.raises(LedgerError, match="of a newer skillmark"):
        upgrade(engine)

    engine.dispose()


def test_a_store_that_fails_in_the_middle_of_an_upgrade_is_as_before(tmp_path: Path, store_url: str) -> None:
    """All steps are one transaction."""
    older(store_url)
    engine = store.connect(store_url)
    with engine.begin() as connection:
        # In the way of the second step, after it has begun.
        connection.execute(text("CREATE INDEX runs_by_start ON runs (state)"))

    with pytest.raises(Exception, match="runs_by_start"):
        upgrade(engine)

    with engine.connect() as connection:
        assert store.version(connection) == "0001"
        assert connection.execute(text("SELECT count(*) FROM results")).scalar() == 1
    engine.dispose()
