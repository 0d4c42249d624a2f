"""Results lie together by run and skill, so that the runs of last year do not slow today's.

Keyed by the job's id alone, a hash, each new result went to a random page of an ever larger tree.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

COLUMNS = "job_id, run_id, skill_digest, pillar, probe, judged, body"


def upgrade() -> None:
    """Copy the results into a table with the new key."""
    op.drop_index("results_of_a_skill", "results")
    op.rename_table("results", "results_by_job")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE results_by_job DROP CONSTRAINT results_pkey")
    op.create_table(
        "results",
        sa.Column("run_id", sa.String(64), sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("skill_digest", sa.String(80), primary_key=True),
        sa.Column("job_id", sa.String(64), primary_key=True),
        sa.Column("pillar", sa.String(16), nullable=False),
        sa.Column("probe", sa.String, nullable=False),
        sa.Column("judged", sa.Boolean, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.execute(f"INSERT INTO results ({COLUMNS}) SELECT {COLUMNS} FROM results_by_job")  # noqa: S608 - our own names
    op.drop_table("results_by_job")
    op.create_index("runs_by_start", "runs", ["started_at"])
