"""Timing, profiles, limits and facts of the machine."""
