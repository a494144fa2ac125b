"""Normal numbers by Wallace's method: rotations of a pool of earlier numbers."""
