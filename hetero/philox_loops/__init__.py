"""Philox4x32 for both targets."""
