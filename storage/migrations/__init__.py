"""Database migrations, run by `storage.migrate`."""
