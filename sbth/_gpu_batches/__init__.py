"""Batches of small matrices on a GPU: a block of threads solves each matrix.

The matrix is reduced to tridiagonal form by reflections, in shared memory as long as it fits there
(`householder_kernels`), or by a warp with rows in registers (`warp_steps`). Then eigenvalues come
from bisection (`bisection_kernels`), or eigenvalues and eigenvectors from the implicit QL
iteration, which a block runs for its matrix (`ql_kernels`), or a thread for a small one
(`rotation_kernels`).
"""

LARGEST_ORDER = 512
"""Largest order of a matrix that a block solves, with a thread for each row: more threads would
leave too few registers to each. Larger matrices are solved one after the other."""
