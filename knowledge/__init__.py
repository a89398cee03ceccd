"""The only way to evidence: wire contracts, error tree and the typed MCP client."""
