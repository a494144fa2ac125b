"""Estimators beside maximum likelihood: quantiles, characteristic functions, grids."""
