"""The command of `sbth` that computes eigenvalues of matrices in files."""
