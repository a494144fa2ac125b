"""States of the matrices of a batch, which kernels report."""

FINE = 0
NOT_FINITE = 1
OVERFLOW = 2
NOT_CONVERGED = 3
SECOND_NOT_FINITE = 4
"""The second matrix of a generalized problem is not finite."""
NOT_DEFINITE = 5
"""The second matrix of a generalized problem is not positive definite."""
