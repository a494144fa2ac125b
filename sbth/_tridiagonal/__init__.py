"""Eigenvalues and eigenvectors of real tridiagonal matrices."""
