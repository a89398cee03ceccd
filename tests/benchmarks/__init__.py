"""Of the benchmarks: what is computed from measurements, and how it is shown."""
