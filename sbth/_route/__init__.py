"""The way from a problem to its eigenvalues: chosen by one table, and followed stage by stage."""
