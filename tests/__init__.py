"""Tests, mirroring the packages; contract, end-to-end, browser, fault and security suites beside."""
