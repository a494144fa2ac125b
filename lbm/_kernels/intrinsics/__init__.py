"""Instructions that Numba has no name for."""
