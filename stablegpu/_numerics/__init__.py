"""Numerical methods that several topics use."""
