"""Ingestion jobs as the API offers them."""
