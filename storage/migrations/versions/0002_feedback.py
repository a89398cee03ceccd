"""Feedback on answers."""

import sqlalchemy as sa
from alembic import op

from storage.columns import UtcDateTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "feedback",
        sa.Column("ask_id", sa.String(), nullable=False),
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("thumb", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ask_id", "caller", name="pk_feedback"),
    )
    op.create_index("ix_feedback_created_at", "feedback", ["created_at"])
    op.create_index("ix_feedback_thumb", "feedback", ["thumb"])


def downgrade() -> None:
    op.drop_table("feedback")
