"""States of the matrices of a batch, which kernels report."""

FINE = 0
NOT_FINITE = 1
OVERFLOW = 2
NOT_CONVERGED = 3
