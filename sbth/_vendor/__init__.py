"""Libraries of others: LAPACK and BLAS by SciPy, NumPy and CuPy as array modules."""
