"""Statistics over the paths of a solution."""
