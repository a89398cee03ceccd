"""Evaluation sets, measures, calibration and reports."""
