"""The experiments of Riesinger (2017) on normal numbers, paths, solvers and orders."""
