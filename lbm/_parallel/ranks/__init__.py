"""The ranks of a simulation: their agreement, the cores that they share, and their common end."""
