"""D3Q19 lattice Boltzmann: planned, no public functions yet."""
