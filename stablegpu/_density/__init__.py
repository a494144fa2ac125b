"""Densities and distribution functions."""
