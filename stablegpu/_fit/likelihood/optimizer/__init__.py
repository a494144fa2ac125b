"""The optimizer of a fit: quasi-Newton ascent and restarts."""
