"""Tests mirror the packages; contract, end-to-end, browser and fault suites stand beside."""
