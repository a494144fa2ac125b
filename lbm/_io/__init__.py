"""Checkpoints and VTK files."""
