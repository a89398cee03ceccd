"""Whether the evidence is enough: guard, calibration, rules."""
