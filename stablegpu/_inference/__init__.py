"""Machinery of inference: intervals, refits with parameters fixed, simulated samples, plots."""
