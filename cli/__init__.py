"""The vouch command: parse, call, print."""
