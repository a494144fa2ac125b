"""Eigenvalues of tridiagonal matrices by bisection."""
