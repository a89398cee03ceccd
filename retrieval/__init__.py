"""The retrieval engine and the one owner of the index."""
