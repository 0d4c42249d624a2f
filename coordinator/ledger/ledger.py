"""The ledger: what has been planned, judged and certified, in SQLite or PostgreSQL by URL.

Delivery over the broker is at least once; the ledger makes it count once. The first result of a job stands, except that
anything replaces `Unjudged`: a worker that came back late with a verdict knows more than the one that gave up.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import structlog
from msgspec import Struct
from sqlalchemy import Connection, Engine, Row, func, select, update

from coordinator.ledger import store
from coordinator.ledger.batch import write_records, write_results
from coordinator.ledger.tables import records, results, runs
from coordinator.tally import HYGIENE, keep
from workers.wire.job import Pillar
from workers.wire.result import Result, Unjudged

AWAY_S = 60.0
AGAIN_S = 0.5

log = structlog.get_logger(__name__)

Line = tuple[int, str, str, float | None, bytes]
"""A record: position in the catalog, skill id, verdict, overall score, line of results.jsonl."""


class RunSummary(Struct, frozen=True, kw_only=True):
    """A run and how far it is; *verdicts* counts the entries that are done with, by verdict."""

    id: str
    started_at: str
    ended_at: str | None
    state: str
    mode: str
    catalog: str
    stamps: dict[str, Any]
    verdicts: dict[str, int]


class _Requests(Struct, frozen=True):
    requests: int = 0


class _Cost(Struct):
    """Of a result, what it cost; the rest is not decoded."""

    verdict: _Requests = _Requests()


class Ledger:
    """One store. Methods block; they are for a thread of their own where that matters."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str) -> Ledger:
        """The store at *url* (``sqlite:///FILE`` or ``postgresql://...``), its tables made where it is new.

        Raises:
            LedgerError: If there is no such store, it does not answer, or another version of skillmark made it.
        """
        engine = store.connect(url)
        try:
            store.prepare(engine)
        except BaseException:
            engine.dispose()
            raise
        store.name_failures(engine)
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

    def state(self, run_id: str) -> tuple[str, dict[str, Any]] | None:
        """State and stamps of a run, None if there is none with this id."""
        with self._engine.connect() as connection:
            row = connection.execute(select(runs.c.state, runs.c.stamps).where(runs.c.id == run_id)).first()
        return None if row is None else (row.state, msgspec.json.decode(row.stamps, type=dict[str, Any]))

    def resume(self, run_id: str) -> None:
        """Open a run again that had not ended."""
        with self._engine.begin() as connection:
            connection.execute(update(runs).where(runs.c.id == run_id).values(state="running", ended_at=None))

    def save(self, run_id: str, batch: Sequence[Result], lines: Sequence[Line]) -> None:
        """`record` and `enter` in one transaction; a server that is restarted meanwhile is waited for, up to `AWAY_S`.

        Raises:
            LedgerError: If the store takes nothing any more.
        """
        until = time.monotonic() + (AWAY_S if self._engine.name == "postgresql" else 0.0)
        while True:
            try:
                # Written twice changes nothing, so it does not matter how far the attempt before this one came.
                with self._engine.begin() as connection:
                    self._record(connection, batch)
                    self._enter(connection, run_id, lines)
            except store.LedgerError as error:
                if time.monotonic() >= until:
                    raise
                log.warning("the store is away", error=str(error))
                time.sleep(AGAIN_S)
            else:
                return

    def record(self, batch: Sequence[Result]) -> None:
        """Enter a batch of results in one transaction; those already known change nothing."""
        with self._engine.begin() as connection:
            self._record(connection, batch)

    def _record(self, connection: Connection, batch: Sequence[Result]) -> None:
        if not batch:
            return
        # Once a job: PostgreSQL refuses a statement that would write the same row twice.
        known: dict[tuple[str, str, str], Result] = {}
        for result in batch:
            key = (result.run_id, result.skill_digest, result.job_id)
            known[key] = keep(known.get(key), result)
        encode = msgspec.json.Encoder().encode
        rows = [
            {
                "job_id": result.job_id,
                "run_id": result.run_id,
                "skill_digest": result.skill_digest,
                "pillar": result.pillar.value,
                "probe": result.probe,
                "judged": not isinstance(result, Unjudged),
                "body": encode(result),
            }
            for result in known.values()
        ]
        write_results(connection, rows)

    def results(self, run_id: str, skill_digest: str) -> dict[str, Result]:
        """The results of one skill in a run, by job id."""
        query = select(results.c.body).where(results.c.run_id == run_id, results.c.skill_digest == skill_digest)
        decoder: msgspec.json.Decoder[Result] = msgspec.json.Decoder(Result)
        with self._engine.connect() as connection:
            decoded = [decoder.decode(body) for (body,) in connection.execute(query)]
        return {result.job_id: result for result in decoded}

    def requests(self, run_id: str, skill_digest: str) -> dict[Pillar, int]:
        """How many calls the judged jobs of one skill made, by pillar; those of the hygiene finding stand in it."""
        query = select(results.c.pillar, results.c.body).where(
            results.c.run_id == run_id,
            results.c.skill_digest == skill_digest,
            results.c.judged,
            results.c.probe != HYGIENE,
        )
        decoder = msgspec.json.Decoder(_Cost)
        counts: Counter[Pillar] = Counter()
        with self._engine.connect() as connection:
            for pillar, body in connection.execute(query):
                counts[Pillar(pillar)] += decoder.decode(body).verdict.requests
        return dict(counts)

    def summaries(self, limit: int) -> list[RunSummary]:
        """The latest runs, the latest first."""
        query = select(runs).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(limit)
        with self._engine.connect() as connection:
            return [self._summary(connection, row) for row in connection.execute(query)]

    def summary(self, run_id: str) -> RunSummary | None:
        """One run, None if there is none with this id."""
        with self._engine.connect() as connection:
            row = connection.execute(select(runs).where(runs.c.id == run_id)).first()
            return None if row is None else self._summary(connection, row)

    def _summary(self, connection: Connection, row: Row[Any]) -> RunSummary:
        counted = select(records.c.verdict, func.count()).where(records.c.run_id == row.id).group_by(records.c.verdict)
        return RunSummary(
            id=row.id,
            started_at=row.started_at,
            ended_at=row.ended_at,
            state=row.state,
            mode=row.mode,
            catalog=row.catalog,
            stamps=msgspec.json.decode(row.stamps, type=dict[str, Any]),
            verdicts={str(verdict): int(count) for verdict, count in connection.execute(counted)},
        )

    def enter(self, run_id: str, lines: Sequence[Line]) -> None:
        """Enter skills' records; a known one is kept."""
        with self._engine.begin() as connection:
            self._enter(connection, run_id, lines)

    def _enter(self, connection: Connection, run_id: str, lines: Sequence[Line]) -> None:
        if not lines:
            return
        rows = [
            {"run_id": run_id, "position": at, "skill_id": skill, "verdict": verdict, "overall": overall, "body": body}
            for at, skill, verdict, overall, body in lines
        ]
        write_records(connection, rows)

    def concluded(self, run_id: str, position: int) -> bool:
        """Whether the entry at *position* of the catalog has its record."""
        query = select(records.c.position).where(records.c.run_id == run_id, records.c.position == position)
        with self._engine.connect() as connection:
            return connection.execute(query).first() is not None

    def records(self, run_id: str) -> Iterator[bytes]:
        """The lines of results.jsonl of a run, in the catalog's order."""
        query = select(records.c.body).where(records.c.run_id == run_id).order_by(records.c.position)
        with self._engine.connect() as connection:
            for (body,) in connection.execution_options(yield_per=500).execute(query):
                yield body


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
