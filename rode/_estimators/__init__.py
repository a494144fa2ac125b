"""Estimators behind expectations, rare events and fits, above the solver of paths."""
