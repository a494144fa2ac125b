"""The domain of a simulation, cut into parts on any devices and ranks, and what parts exchange."""
