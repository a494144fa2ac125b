"""Formulas of steps that the loops of both targets call, and the loops over frames."""
