"""Observations that are not sorted one by one: in intervals, in large samples, as quantiles."""
