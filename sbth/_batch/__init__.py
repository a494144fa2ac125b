"""Batches of matrices: on a CPU by all threads, on a GPU by a block of threads each.

On a GPU a matrix is reduced to tridiagonal form by reflections, in shared memory as long as it fits
there (`householder_kernels`), or by a warp with rows in registers (`warp_steps`). Then eigenvalues
come from bisection (`bisection_kernels`), or eigenvalues and eigenvectors from the implicit QL
iteration, which a block runs for its matrix (`ql_kernels`), or a thread for a small one
(`rotation_kernels`).
"""
