"""Reductions: of pencils to matrices, of matrices to bands, and of bands to tridiagonal form."""
