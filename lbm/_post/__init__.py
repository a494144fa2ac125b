"""Results of the state of a flow: forces, stress on walls, gradients, stability."""
