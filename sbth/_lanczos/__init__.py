"""Thick-restart Lanczos for a few extreme eigenpairs, on arrays of NumPy or CuPy."""
