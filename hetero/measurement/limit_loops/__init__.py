"""Loops that measure the bandwidth and the arithmetic rates that a device can reach."""
