"""LAPACK's drivers on the CPU, and the choice between them and the loops of this package."""
