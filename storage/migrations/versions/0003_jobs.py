"""Jobs of the ingestion with their tasks, and what workers tell of the index."""

import sqlalchemy as sa
from alembic import op

from storage.columns import UtcDateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.Column("requester", sa.String(), nullable=False),
        sa.Column("profile", sa.String(), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("progress", sa.JSON(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("build", sa.String(), nullable=False),
        sa.Column("error_code", sa.String(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("staging", sa.String(), nullable=False),
        sa.Column("is_cancelled", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    for name in ("kind", "state", "created_at"):
        op.create_index(f"ix_jobs_{name}", "jobs", [name])
    op.create_table(
        "job_tasks",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("worker", sa.String(), nullable=False),
        sa.Column("sent_at", UtcDateTime(), nullable=True),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_job_tasks"),
    )
    for name in ("job_id", "state", "due_at"):
        op.create_index(f"ix_job_tasks_{name}", "job_tasks", [name])
    op.create_table(
        "workers",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("seen_at", UtcDateTime(), nullable=False),
        sa.Column("profiles", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_workers"),
    )
    op.create_index("ix_workers_seen_at", "workers", ["seen_at"])
    op.create_table(
        "index_views",
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("seen_at", UtcDateTime(), nullable=False),
        sa.Column("current", sa.String(), nullable=False),
        sa.Column("builds", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("collection", name="pk_index_views"),
    )
    op.create_table(
        "sources",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("location", sa.Text(), nullable=False),
        sa.Column("profile", sa.String(), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("ingested_at", UtcDateTime(), nullable=False),
        sa.Column("checked_at", UtcDateTime(), nullable=False),
        sa.Column("refresh_seconds", sa.Integer(), nullable=False),
        sa.Column("validators", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_sources"),
    )


def downgrade() -> None:
    for table in ("sources", "index_views", "workers", "job_tasks", "jobs"):
        op.drop_table(table)
