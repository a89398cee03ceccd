"""MCP tools over the index, with an audit row for every call."""
