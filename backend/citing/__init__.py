"""Markers, citations and what may not be shown."""
