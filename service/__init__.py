"""What every process needs once: settings base, logs, metrics, health, signed tokens."""
