"""Eigenvalues of banded and full symmetric matrices by pipelined reduction: planned, no public functions yet."""
