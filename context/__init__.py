"""Context tools for agents, loaded by the MCP process."""
