"""BLAS routines of the host-driven reduction that the study compares with."""
