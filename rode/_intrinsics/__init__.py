"""Instructions and tuple operations of the kernels that Numba has no name for."""
