"""Formulas of a cell and of its walls, for both targets."""
