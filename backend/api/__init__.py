"""Routes of the JSON API and of its OpenAI-compatible door."""
