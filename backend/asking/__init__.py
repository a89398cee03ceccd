"""One question from request to record."""
