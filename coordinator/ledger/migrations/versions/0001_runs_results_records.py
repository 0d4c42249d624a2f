"""Runs, results and records; stores of this version carry no version of their own.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "runs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("ended_at", sa.String(32)),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("mode", sa.String(8), nullable=False),
        sa.Column("catalog", sa.String, nullable=False),
        sa.Column("stamps", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "results",
        sa.Column("job_id", sa.String(64), primary_key=True),
        sa.Column("run_id", sa.String(64), sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("skill_digest", sa.String(80), nullable=False),
        sa.Column("pillar", sa.String(16), nullable=False),
        sa.Column("probe", sa.String, nullable=False),
        sa.Column("judged", sa.Boolean, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("results_of_a_skill", "results", ["run_id", "skill_digest"])
    op.create_table(
        "records",
        sa.Column("run_id", sa.String(64), sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("skill_id", sa.String, nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("overall", sa.Float),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
