"""Tokens of audited calls."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_COLUMNS = ("tokens_in", "tokens_out")


def upgrade() -> None:
    for name in _COLUMNS:
        op.add_column("audit", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    for name in _COLUMNS:
        op.drop_column("audit", name)
