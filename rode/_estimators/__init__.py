"""Estimators that choose how many paths they solve, and by which steps and random numbers."""
