"""Certificates: what they say, how they are written, read and checked."""
