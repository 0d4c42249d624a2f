"""The tables. A job's row is keyed by its id, so nothing can count twice."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table

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
)

results = Table(
    "results",
    metadata,
    Column("job_id", String(64), primary_key=True),
    Column("run_id", String(64), ForeignKey("runs.id"), nullable=False),
    Column("skill_digest", String(80), nullable=False),
    Column("pillar", String(16), nullable=False),
    Column("probe", String, nullable=False),
    Column("judged", Boolean, nullable=False),
    Column("body", LargeBinary, nullable=False),  # the wire result, JSON
    Index("results_of_a_skill", "run_id", "skill_digest"),
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
