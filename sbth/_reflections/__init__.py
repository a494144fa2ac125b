"""Products of Householder reflections as blocks: 1 - V T V^H, by NumPy, CuPy or own kernels."""
