"""Domains over one or two devices, and what crosses between their parts."""
