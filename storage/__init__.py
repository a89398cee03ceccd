"""Every SQL table, the queries on them and the migrations."""
