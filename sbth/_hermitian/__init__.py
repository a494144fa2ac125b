"""Complex Hermitian matrices on a GPU, full ones and bands, with CuPy.

The stages are those of real matrices: panels, bulge chasing, a real tridiagonal matrix. What
differs is here: `tridiagonal_form` makes the matrix real that bulge chasing leaves, and `solver`
puts the stages together.
"""
