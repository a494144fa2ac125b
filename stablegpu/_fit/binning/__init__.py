"""Bins for large data sets."""
