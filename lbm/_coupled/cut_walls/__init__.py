"""Interpolated walls after each step: what they return along the links that they cut."""
