"""The ledger: what has been planned, judged and certified, in SQLite or PostgreSQL by URL.

Delivery over the broker is at least once; the ledger makes it count once. The first result of a job stands, except that
`Judged` replaces `Unjudged`: a worker that came back late with a verdict knows more than the one that gave up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Engine, create_engine, event, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from coordinator.ledger.tables import metadata, records, results, runs
from workers.wire.result import Judged, Result

BUSY_TIMEOUT_MS = 30_000


class LedgerError(Exception):
    """The store cannot be reached or used; the message names it, without its password."""


class Ledger:
    """One store. Methods block; they are for a thread of their own where that matters."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert

    @classmethod
    def open(cls, url: str) -> Ledger:
        """The store at *url* (``sqlite:///FILE`` or ``postgresql://...``), its tables made where they are missing.

        Raises:
            LedgerError: If there is no such store, or it does not answer.
        """
        try:
            parsed = make_url(url)
        except ArgumentError as error:
            raise LedgerError(f"expected a store like sqlite:///FILE or postgresql://..., found {url!r}") from error
        shown = parsed.render_as_string(hide_password=True)
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise LedgerError(f"{shown}: expected a sqlite or postgresql store, found {parsed.get_backend_name()}")
        try:
            if parsed.get_backend_name() == "sqlite" and parsed.database:
                Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            engine = create_engine(parsed)
            if parsed.get_backend_name() == "sqlite":
                event.listen(engine, "connect", _tune_sqlite)
            metadata.create_all(engine)
        except (SQLAlchemyError, OSError, ImportError) as error:
            raise LedgerError(f"{shown}: the store cannot be opened: {error}") from error
        return cls(engine)

    def close(self) -> None:
        """Give back every connection."""
        self._engine.dispose()

    def begin(self, run_id: str, *, mode: str, catalog: str, stamps: dict[str, Any]) -> None:
        """Enter a new run."""
        with self._engine.begin() as connection:
            connection.execute(
                runs.insert().values(
                    id=run_id,
                    started_at=_now(),
                    state="running",
                    mode=mode,
                    catalog=catalog,
                    stamps=msgspec.json.encode(stamps),
                )
            )

    def end(self, run_id: str, *, state: str) -> None:
        """Close the run as ``ended`` or ``interrupted``."""
        with self._engine.begin() as connection:
            connection.execute(update(runs).where(runs.c.id == run_id).values(state=state, ended_at=_now()))

    def record(self, batch: Sequence[Result]) -> None:
        """Enter a batch of results in one transaction; those already known change nothing."""
        if not batch:
            return
        encode = msgspec.json.Encoder().encode
        rows = [
            {
                "job_id": result.job_id,
                "run_id": result.run_id,
                "skill_digest": result.skill_digest,
                "pillar": result.pillar.value,
                "probe": result.probe,
                "judged": isinstance(result, Judged),
                "body": encode(result),
            }
            for result in batch
        ]
        insert = self._insert(results)
        statement = insert.on_conflict_do_update(
            index_elements=[results.c.job_id],
            set_={"judged": insert.excluded.judged, "body": insert.excluded.body},
            where=results.c.judged.is_(False) & insert.excluded.judged.is_(True),
        )
        with self._engine.begin() as connection:
            connection.execute(statement, rows)

    def results(self, run_id: str, skill_digest: str) -> dict[str, Result]:
        """The results of one skill in a run, by job id."""
        query = select(results.c.body).where(results.c.run_id == run_id, results.c.skill_digest == skill_digest)
        decoder: msgspec.json.Decoder[Result] = msgspec.json.Decoder(Result)
        with self._engine.connect() as connection:
            decoded = [decoder.decode(body) for (body,) in connection.execute(query)]
        return {result.job_id: result for result in decoded}

    def enter(self, run_id: str, lines: Sequence[tuple[int, str, str, float | None, bytes]]) -> None:
        """Enter skills' records: (position, skill id, verdict, overall, line of results.jsonl); a known one is kept."""
        if not lines:
            return
        rows = [
            {"run_id": run_id, "position": at, "skill_id": skill, "verdict": verdict, "overall": overall, "body": body}
            for at, skill, verdict, overall, body in lines
        ]
        with self._engine.begin() as connection:
            connection.execute(self._insert(records).on_conflict_do_nothing(), rows)

    def records(self, run_id: str) -> Iterator[bytes]:
        """The lines of results.jsonl of a run, in the catalog's order."""
        query = select(records.c.body).where(records.c.run_id == run_id).order_by(records.c.position)
        with self._engine.connect() as connection:
            for (body,) in connection.execution_options(yield_per=500).execute(query):
                yield body


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _tune_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    # WAL: readers (a report, an operator's query) never wait for the collector's transactions.
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.close()
