"""Questions that are answered later."""

import sqlalchemy as sa
from alembic import op

from storage.columns import UtcDateTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "queued_asks",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("caller", sa.JSON(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("sent_at", UtcDateTime(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.Column("problem", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_queued_asks"),
    )
    for name in ("created_at", "state", "due_at"):
        op.create_index(f"ix_queued_asks_{name}", "queued_asks", [name])


def downgrade() -> None:
    op.drop_table("queued_asks")
