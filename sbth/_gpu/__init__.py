"""Pieces of kernels that several topics share: flags, reflections, divisions, and sums."""
