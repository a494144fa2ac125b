"""Studies of the shared layer."""
