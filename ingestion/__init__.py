"""From documents to a published build of the index."""
