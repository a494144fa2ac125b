"""CPU threads: how many, on which layer of Numba, and how a long loop can be interrupted."""
