"""Runs migrations on the connection that ``storage.migrate`` opened."""

from __future__ import annotations

from alembic import context

from storage.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=METADATA,
    # SQLite cannot alter a column: Alembic copies the table instead.
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
