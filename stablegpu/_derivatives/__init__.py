"""Derivatives of the log-density."""
