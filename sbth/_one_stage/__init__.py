"""Reduction of a full matrix to tridiagonal form in one stage, on a GPU, by one running kernel.

For matrices whose rows fit in the shared memory of the multiprocessors, or nearly. A reflection
for each column, which all blocks make, is applied to the rows that each block holds
(`kernels`); the blocks wait for each other once a column. `reduction` launches the kernel, and
`back_transformation` applies the reflections to eigenvectors.
"""
