"""Density, velocity and forces from populations."""
