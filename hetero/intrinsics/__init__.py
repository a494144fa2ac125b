"""Instructions that Numba has no name for, for both targets."""
