"""Finished parts of a run in a folder: what is stored for each, and its form in a file."""
