"""Figures, tables of notebooks, and progress bars: what users see of results."""
