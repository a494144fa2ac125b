"""Koutrouvelis' regression on the empirical characteristic function."""
