"""Measurements whose figures the documentation quotes: `python -m benchmarks run SUITE`."""
