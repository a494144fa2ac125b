"""Matrices that a GPU reduces by way of a band, with CuPy: full ones, and complex bands.

`tridiagonal_form` reduces a band, and makes the tridiagonal matrix real that a complex one leaves;
`solver` puts the stages together.
"""
