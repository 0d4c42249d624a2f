"""The tables. A job's row is keyed by its id, so nothing can count twice.

The key begins with run and skill: what a run writes lies together, and a store full of old runs is as fast as a new
one. Each change here is a new file in `migrations/versions` and a new `VERSION`.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table

VERSION = "0002"
"""The schema's version: the newest of `migrations/versions`."""

metadata = MetaData()

runs = Table(
    "runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("started_at", String(32), nullable=False),  # ISO 8601, UTC
    Column("ended_at", String(32)),
    Column("state", String(16), nullable=False),  # running | ended | interrupted
    Column("mode", String(8), nullable=False),
    Column("catalog", String, nullable=False),
    Column("stamps", LargeBinary, nullable=False),  # JSON
    Index("runs_by_start", "started_at"),
)

results = Table(
    "results",
    metadata,
    Column("run_id", String(64), ForeignKey("runs.id"), primary_key=True),
    Column("skill_digest", String(80), primary_key=True),
    Column("job_id", String(64), primary_key=True),
    Column("pillar", String(16), nullable=False),
    Column("probe", String, nullable=False),
    Column("judged", Boolean, nullable=False),
    Column("body", LargeBinary, nullable=False),  # the wire result, JSON
    sqlite_with_rowid=False,
)

records = Table(
    "records",
    metadata,
    Column("run_id", String(64), ForeignKey("runs.id"), primary_key=True),
    Column("position", Integer, primary_key=True),  # of the skill in its catalog
    Column("skill_id", String, nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("overall", Float),
    Column("body", LargeBinary, nullable=False),  # the line of results.jsonl
)
