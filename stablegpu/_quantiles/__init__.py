"""Quantiles by a safeguarded Newton method."""
