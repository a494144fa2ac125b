"""Eigenvalues of banded symmetric matrices: planned, no public functions yet."""
