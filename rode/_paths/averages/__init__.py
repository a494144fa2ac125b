"""Averages of paths over coarse steps."""
