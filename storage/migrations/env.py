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
    # SQLite can do it as well as PostgreSQL; only its driver does not by itself.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
