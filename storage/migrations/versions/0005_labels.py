"""Labels of reviewers."""

import sqlalchemy as sa
from alembic import op

from storage.columns import UtcDateTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "labels",
        sa.Column("ask_id", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("reviewer", sa.String(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ask_id", name="pk_labels"),
    )
    op.create_index("ix_labels_created_at", "labels", ["created_at"])
    op.create_index("ix_labels_label", "labels", ["label"])


def downgrade() -> None:
    op.drop_table("labels")
