"""Paths from given noise by a prefix sum."""
