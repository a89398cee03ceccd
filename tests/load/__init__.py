"""Many callers at once, for seconds in the suite and for minutes by `make load` and `make soak`."""
