"""Generalized problems A x = lambda B x as problems of one matrix with the same eigenvalues."""
