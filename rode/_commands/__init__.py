"""The command of `rode` that solves problems in users' files."""
