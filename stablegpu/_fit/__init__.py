"""Estimation: data sets, starting values, the likelihood and its maximum."""
