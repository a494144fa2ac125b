"""Tails of densities and distribution functions."""
