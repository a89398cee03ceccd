"""Tables for asks, audit and calibrations."""

import sqlalchemy as sa
from alembic import op

from storage.columns import UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "asks",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=True),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("search_question", sa.Text(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("top_k", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("abstained", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("raw_text", sa.Text(), nullable=False),
        sa.Column("guard_mode", sa.String(), nullable=False),
        sa.Column("best_cosine", sa.Float(), nullable=True),
        sa.Column("threshold", sa.Float(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=True),
        sa.Column("fidelity", sa.String(), nullable=False),
        sa.Column("lowest_support", sa.Float(), nullable=True),
        sa.Column("agent_kind", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("build", sa.String(), nullable=False),
        *(
            sa.Column(name, sa.JSON(), nullable=False)
            for name in (
                "response",
                "verdict",
                "searches",
                "evidence",
                "tool_calls",
                "audit",
                "prompt",
                "labels",
                "timings_ms",
                "versions",
                "shadow",
            )
        ),
        sa.PrimaryKeyConstraint("id", name="pk_asks"),
    )
    for column in (
        "created_at",
        "caller",
        "conversation_id",
        "source",
        "status",
        "abstained",
        "reason",
        "fidelity",
        "model",
        "build",
    ):
        op.create_index(f"ix_asks_{column}", "asks", [column])
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("ask_id", sa.String(), nullable=False),
        sa.Column("branch", sa.String(), nullable=False),
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("chunk_ids", sa.JSON(), nullable=False),
        sa.Column("cosines", sa.JSON(), nullable=False),
        sa.Column("build", sa.String(), nullable=False),
        sa.Column("milliseconds", sa.Float(), nullable=False),
        sa.Column("error", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_created_at", "audit", ["created_at"])
    op.create_index("ix_audit_ask_id", "audit", ["ask_id"])
    op.create_table(
        "calibrations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("artefact", sa.JSON(), nullable=False),
        sa.Column("drift_check", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_calibrations"),
    )
    op.create_index("ix_calibrations_created_at", "calibrations", ["created_at"])


def downgrade() -> None:
    op.drop_table("calibrations")
    op.drop_table("audit")
    op.drop_table("asks")
