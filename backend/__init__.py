"""The HTTP API and pages: asking, the guard, citations, fidelity, records."""
