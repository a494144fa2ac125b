"""Solids that move through the cells with a prescribed motion."""
