"""Loops that measure what a device can do at most."""
