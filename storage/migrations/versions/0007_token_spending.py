"""Model tokens by account and day."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "token_spending",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("account", sa.String(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("reserved", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "account", name="pk_token_spending"),
    )


def downgrade() -> None:
    op.drop_table("token_spending")
