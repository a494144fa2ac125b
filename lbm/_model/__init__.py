"""The lattice, the streaming patterns, the walls and the precisions, as data."""
