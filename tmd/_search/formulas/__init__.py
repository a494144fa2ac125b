"""Formulas of searches for both targets: Boolean tests, lines, and integers of several words."""
